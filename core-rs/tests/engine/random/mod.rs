//! A random life of the engine, as `Sim` (`random_lives.rs` draws them).
mod checks;
mod replies;
mod sim;
mod worker;

pub use sim::Sim;
