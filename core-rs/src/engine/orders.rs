//! The orders of a run to others, as its state: given, taken, and what happens when the run closes. (They are carried out by
//! `carry_out.rs`.)
use super::context::Context;
use super::event::sequence_key;
use super::messages::orders::*;
use super::state::order::Order;
use super::state::run::{Deadline, Run, kind};

impl Run {
    pub fn order(&mut self, message: Outgoing) {
        self.head.order_seq += 1;
        self.orders.insert(self.head.order_seq, Order { message, stored: false, tried: false });
        self.dirty = true;
    }

    pub fn take_order(&mut self, seq: i64) -> Option<Outgoing> {
        let order = self.orders.remove(&seq)?;
        if order.stored {
            self.mark(kind::ORDER, sequence_key(seq));
        }
        self.dirty = true;
        Some(order.message)
    }

    /// The run closes: what it has asked for itself is not carried out any more.
    pub fn drop_orders(&mut self) {
        for seq in self.orders.keys().copied().collect::<Vec<_>>() {
            self.take_order(seq);
        }
        self.set_orders_deadline(None);
    }

    pub fn set_orders_deadline(&mut self, new: Option<i64>) {
        self.set_deadline(Deadline::Orders, self.orders_deadline, new);
        self.orders_deadline = new;
    }

    /// Orders that wait, of one kind; for the limits.
    pub fn orders_of(&self, what: i32) -> usize {
        self.orders.values().filter(|o| o.message.what == what).count()
    }
}

/// An order that could not be carried out is tried again.
pub fn due(run: &mut Run, cx: &mut Context) {
    run.orders_deadline = None;
    cx.orders.push_back(run.slot);
}

/// After a step: orders that were not tried yet.
pub fn announce(run: &Run, cx: &mut Context) {
    if run.orders.values().any(|o| !o.tried) {
        cx.orders.push_back(run.slot);
    }
}
