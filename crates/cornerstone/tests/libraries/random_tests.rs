//! Numbers of seeds.

use random::SplitMix64;

/// The expected numbers are the first ones of the authors' program for seed 1234567.
#[test]
fn the_numbers_are_those_of_the_paper() {
    let mut random = SplitMix64::new(1_234_567);
    let numbers = [(); 3].map(|()| random.bits());
    let published =
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
    assert_eq!(numbers, published);
}

#[test]
fn an_order_keeps_what_it_orders_and_numbers_stay_below_their_bound() {
    let mut random = SplitMix64::new(7);
    let mut items: Vec<usize> = (0..100).collect();
    random.shuffle(&mut items);
    assert!(!items.is_sorted());
    items.sort_unstable();
    assert_eq!(items, (0..100).collect::<Vec<_>>());
    assert!((0..1000).all(|_| random.below(3) < 3 && (0.0..1.0).contains(&random.uniform())));
    // The mean of 10000 standard normal numbers has a deviation of 0.01, so 0.05 does not occur by chance.
    assert!(((0..10_000).map(|_| random.normal()).sum::<f64>() / 1e4).abs() < 0.05);
}
