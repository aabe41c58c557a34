/* Random numbers that are the same on all ranks, data made from them, and the checksum. */

#include "random.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int world_rank, world_size;
uint64_t seed;
int step, wrong, verbose, is_mpich, is_wide;

static uint64_t state, sum;

uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

void begin_draws(uint64_t program) {
    seed = program;
    state = mix(program + 1);
    sum = 0;
    step = 0;
}

uint64_t draw(uint64_t below) {
    state += 0x9e3779b97f4a7c15u;
    return mix(state) % below;
}

int chance(int percent) { return (int)draw(100) < percent; }

long draw_bytes(void) {
    switch (draw(8)) {
    case 0: return 0;
    case 1:
    case 2:
    case 3: return (long)draw(200);
    case 4:
    case 5: return (long)draw(3000);
    case 6: return (long)draw(20000);
    /* Longer than the eager limit of every fabric. */
    default: return chance(20) ? (long)draw(600000) : (long)draw(100000);
    }
}

void draw_order(int *order, int n) {
    for (int i = 0; i < n; i++) {
        int other = (int)draw((uint64_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

uint64_t data_of(int member, int part) {
    return mix(mix(mix(seed) + (uint64_t)step) + (uint64_t)member * 1000003u + (uint64_t)part);
}

void fill(void *memory, size_t bytes, uint64_t data) {
    unsigned char *at = memory;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = mix(data + i);
        memcpy(at + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

void fold(uint64_t value) { sum = mix(sum * 31 + value); }

uint64_t digest(const void *memory, size_t bytes) {
    const unsigned char *at = memory;
    uint64_t result = bytes;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
        result = mix(result * 31 + word);
    }
    return result;
}

void fold_bytes(const void *memory, size_t bytes) { fold(digest(memory, bytes)); }

uint64_t checksum(void) { return sum; }

static void line(const char *before, const char *format, va_list arguments) {
    char text[400];
    vsnprintf(text, sizeof text, format, arguments);
    printf("%sseed %llu step %d rank %d of %d: %s\n", before, (unsigned long long)seed, step,
           world_rank, world_size, text);
    fflush(stdout);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    wrong++;
    /* One error causes many more. The first lines are enough. */
    if (wrong <= 20) line("wrong: ", format, arguments);
    va_end(arguments);
}

void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (verbose) line("", format, arguments);
    va_end(arguments);
}
