# What a developer does here. `make help` lists it; DEVELOPERS.md says more.
.PHONY: help check test test-all interop bench same-and-same ablation wheel install timings book miri sanitize prepare clean
PREFIX ?= /usr/local

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: ## fast: formatting, lints as errors, unit tests
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- --deny warnings
	@scripts/test units

test: prepare ## every crate, the built command, random MPI programs, mpi4py; installs what they need
	@scripts/test

test-all: prepare ## what `make test` leaves out because it is long: more ranks, sanitizers
	@scripts/test all

interop: ## programs that nobody here wrote, against our MPI library (interop/README.md)
	@python3 interop/main.py

bench: ## the speed that the project claims, as ratios measured in one run
	@scripts/bench

wheel: ## a wheel for `pip install`, for systems with glibc 2.28 and later, in target/wheels
	@python3 packaging/package.py wheel

install: ## the command, mpiexec, mpicc, libraries and man pages below PREFIX (/usr/local)
	@python3 packaging/package.py install "$(PREFIX)"

timings: ## builds the command line from nothing, and prints the processor time of each crate (docs/building.md)
	@scripts/timings

book: ## docs/ as a book, in target/book
	@scripts/book

same-and-same: ## how often two runs of one build are called different; SHORT=1 for a few minutes
	@scripts/same-and-same $(if $(SHORT),--pairs 12)

ablation: ## what each stage of a comparison is worth, on models of three kinds of machines (docs/results.md)
	@cargo run --quiet --release -p analysis --example ablation

miri: ## the unsafe code under Miri, where a nightly with Miri is there
	@scripts/miri

sanitize: ## unit tests and random MPI programs under the address sanitizer
	@scripts/sanitize

prepare:
	@scripts/prepare

clean: ## removes what was built, but no results
	cargo clean
