//! Tasks that wait in a queue, in the order in which they are given out: by priority key, then fairly by fairness key, then by the time
//! at which they became ready. Fair: of the keys with tasks, the one that has had the least, each task counted by 1 / its weight.
//! A key that had no task counts from where the others are, so that a pause earns nothing.
use super::rates::Rate;
use super::throttle::Throttle;
use super::time::Micros;
use crate::sorted::{SortedMap, SortedSet};

/// Priority keys are 1 (first) to 5, as on a server.
pub const LOWEST_PRIORITY: i32 = 5;
pub const DEFAULT_PRIORITY: i32 = 3;

/// What one task of weight 1 counts.
const STRIDE: f32 = 1e6;
const WEIGHTS: (f32, f32) = (0.001, 1000.0);

/// Keys without tasks that a level may remember besides as many as have some.
const REMEMBERED_KEYS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Workflow,
    Activity(i64),
    Query(u64),
}

/// How a task is ordered among those of other workflows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    pub priority: i32,
    pub fairness_key: String,
    pub weight: f32,
}

impl Default for Rank {
    fn default() -> Rank {
        Rank { priority: DEFAULT_PRIORITY, fairness_key: String::new(), weight: 1.0 }
    }
}

/// A task that was taken, with its fairness key and the weight that counts.
pub struct Taken {
    pub slot: u32,
    pub task: Task,
    pub key: String,
    pub weight: f32,
}

/// A task's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    priority: i32,
    fairness_key: String,
    order: (Micros, u64),
}

#[derive(Default)]
pub struct Backlog {
    levels: SortedMap<i32, Level>,
    len: usize,
    /// By priority: tasks taken in, and tasks given out.
    rates: SortedMap<i32, (Rate, Rate)>,
}

/// What waits with one priority, and how much comes and goes.
pub struct Stats {
    pub priority: i32,
    pub tasks: usize,
    /// When the oldest of them became ready.
    pub oldest: Option<Micros>,
    /// A second.
    pub added: f64,
    pub taken: f64,
}

impl Stats {
    pub fn add(&mut self, other: Stats) {
        self.tasks += other.tasks;
        self.oldest = self.oldest.into_iter().chain(other.oldest).min();
        self.added += other.added;
        self.taken += other.taken;
    }
}

/// The tasks of one priority.
#[derive(Default)]
struct Level {
    shares: SortedMap<String, Share>,
    /// Keys with tasks, by what they have had and then by age of their first task.
    next: SortedSet<(u64, u64, String)>,
    /// What the key had that was last served.
    served: u64,
}

#[derive(Default)]
struct Share {
    /// With the weight of each.
    tasks: SortedMap<(Micros, u64), (u32, Task, f32)>,
    had: u64,
    /// The age with which it is in `next`.
    age: u64,
}

impl Backlog {
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn insert(&mut self, rank: Rank, order: (Micros, u64), slot: u32, task: Task, now: Micros) -> Place {
        self.rates.get_or_insert_with(rank.priority, Default::default).0.count(now);
        let level = self.levels.get_or_insert_with(rank.priority, Level::default);
        let served = level.served;
        let share = level.shares.get_or_insert_with(rank.fairness_key.clone(), Share::default);
        if share.tasks.is_empty() {
            share.had = share.had.max(served);
            share.age = order.1;
            level.next.insert((share.had, share.age, rank.fairness_key.clone()));
        }
        share.tasks.insert(order, (slot, task, rank.weight));
        self.len += 1;
        Place { priority: rank.priority, fairness_key: rank.fairness_key, order }
    }

    /// Whether the task was there.
    pub fn remove(&mut self, place: &Place) -> bool {
        let Some(level) = self.levels.get_mut(&place.priority) else { return false };
        let Some(share) = level.shares.get_mut(&place.fairness_key) else { return false };
        if share.tasks.remove(&place.order).is_none() {
            return false;
        }
        if share.tasks.is_empty() {
            level.next.remove(&(share.had, share.age, place.fairness_key.clone()));
        }
        self.len -= 1;
        self.tidy(place.priority);
        true
    }

    /// Takes the first task whose fairness key is below its limit. Without one: when the first key may have a task.
    pub fn pop(&mut self, now: Micros, throttle: Option<&Throttle>) -> Result<Taken, Option<Micros>> {
        let mut due: Option<Micros> = None;
        let mut found = None;
        'levels: for (priority, level) in self.levels.iter() {
            for first in level.next.iter() {
                match throttle.map_or(Some(now), |t| t.key_due(&first.2)) {
                    Some(at) if at <= now => {
                        found = Some((*priority, first.clone()));
                        break 'levels;
                    }
                    Some(at) => due = Some(due.map_or(at, |due| due.min(at))),
                    None => {}
                }
            }
        }
        let (priority, first) = found.ok_or(due)?;
        self.take(priority, first, now, throttle).ok_or(None)
    }

    fn take(&mut self, priority: i32, first: (u64, u64, String), now: Micros, throttle: Option<&Throttle>) -> Option<Taken> {
        let level = self.levels.get_mut(&priority)?;
        level.next.remove(&first);
        let (had, _, key) = first;
        let share = level.shares.get_mut(&key)?;
        let (_, (slot, task, own)) = share.tasks.pop_first()?;
        let weight = throttle.map_or(own, |t| t.weight(&key, own));
        level.served = had;
        share.had = had + (STRIDE / weight.clamp(WEIGHTS.0, WEIGHTS.1)) as u64;
        if let Some(((_, age), _)) = share.tasks.first_key_value() {
            share.age = *age;
            level.next.insert((share.had, share.age, key.clone()));
        }
        self.len -= 1;
        self.tidy(priority);
        self.rates.get_or_insert_with(priority, Default::default).1.count(now);
        Some(Taken { slot, task, key, weight })
    }

    /// A level without tasks is dropped; so are keys without tasks when there are many.
    fn tidy(&mut self, priority: i32) {
        let Some(level) = self.levels.get_mut(&priority) else { return };
        if level.next.len() == 0 {
            self.levels.remove(&priority);
        } else if level.shares.len() > 2 * level.next.len() + REMEMBERED_KEYS {
            level.shares.retain(|_, share| !share.tasks.is_empty());
        }
    }

    /// By priority, of those that were used lately.
    pub fn stats(&mut self, now: Micros) -> Vec<Stats> {
        let levels = &self.levels;
        let of = |(priority, (added, taken)): (&i32, &mut (Rate, Rate))| {
            let firsts = || {
                let shares = levels.get(priority).into_iter().flat_map(|level| level.shares.values());
                shares.filter_map(|share| share.tasks.first_key_value().map(|(order, _)| (share.tasks.len(), order.0)))
            };
            Stats {
                priority: *priority,
                tasks: firsts().map(|(tasks, _)| tasks).sum(),
                oldest: firsts().map(|(_, ready)| ready).min(),
                added: added.per_second(now),
                taken: taken.per_second(now),
            }
        };
        self.rates.iter_mut().map(of).collect()
    }

    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.levels.values().flat_map(|level| level.shares.values()).flat_map(|share| share.tasks.values()).map(|task| task.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(priority: i32, key: &str, weight: f32) -> Rank {
        Rank { priority, fairness_key: key.into(), weight }
    }

    /// Inserts tasks with these ranks, in this order; slots are their indexes.
    fn of(ranks: &[Rank]) -> Backlog {
        let mut backlog = Backlog::default();
        for (i, rank) in ranks.iter().enumerate() {
            backlog.insert(rank.clone(), (i as Micros, i as u64), i as u32, Task::Workflow, 0);
        }
        backlog
    }

    fn pop(backlog: &mut Backlog) -> Option<(u32, Task)> {
        backlog.pop(0, None).ok().map(|taken| (taken.slot, taken.task))
    }

    fn all(backlog: &mut Backlog) -> Vec<u32> {
        std::iter::from_fn(|| pop(backlog).map(|(slot, _)| slot)).collect()
    }

    #[test]
    fn lower_priority_keys_come_first_and_equal_ones_by_time() {
        let mut backlog = of(&[3, 5, 1, 3, 1].map(|p| rank(p, "", 1.0)));
        backlog.insert(Rank::default(), (-1, 99), 9, Task::Workflow, 0);
        assert_eq!(all(&mut backlog), [2, 4, 9, 0, 3, 1]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn keys_take_turns_and_a_newcomer_waits_for_one_turn_only() {
        let mut backlog = of(&["a", "a", "a", "a", "b"].map(|key| rank(3, key, 1.0)));
        assert_eq!(pop(&mut backlog), Some((0, Task::Workflow)));
        backlog.insert(rank(3, "c", 1.0), (50, 50), 50, Task::Workflow, 0);
        assert_eq!(all(&mut backlog), [4, 50, 1, 2, 3]);
    }

    #[test]
    fn a_key_gets_tasks_by_its_weight() {
        let ranks: Vec<Rank> = (0..40).map(|i| if i < 20 { rank(3, "heavy", 3.0) } else { rank(3, "light", 1.0) }).collect();
        let mut backlog = of(&ranks);
        let first: Vec<u32> = std::iter::from_fn(|| pop(&mut backlog).map(|(slot, _)| slot)).take(16).collect();
        assert_eq!(first.iter().filter(|slot| **slot < 20).count(), 12);
        assert_eq!(all(&mut backlog).len(), 24);
    }

    #[test]
    fn a_pause_earns_nothing() {
        let mut backlog = of(&["a", "a", "a", "a", "a", "a", "b"].map(|key| rank(3, key, 1.0)));
        for _ in 0..5 {
            pop(&mut backlog);
        }
        for i in 50..53 {
            backlog.insert(rank(3, "b", 1.0), (i, i as u64), i as u32, Task::Workflow, 0);
        }
        let rest = all(&mut backlog);
        assert_eq!(rest.len(), 5);
        assert!(rest.iter().position(|slot| *slot < 7).unwrap() <= 1, "{rest:?}: a is not made to wait for what b missed");
    }

    #[test]
    fn a_removed_task_leaves_its_key() {
        let mut backlog = Backlog::default();
        let places: Vec<Place> =
            ["a", "b"].iter().map(|key| backlog.insert(rank(3, key, 1.0), (0, 1), 7, Task::Query(1), 0)).collect();
        assert!(backlog.remove(&places[0]));
        assert!(!backlog.remove(&places[0]));
        assert_eq!(backlog.slots().collect::<Vec<_>>(), [7]);
        let stats = &backlog.stats(0)[0];
        assert_eq!((stats.priority, stats.tasks, stats.oldest, stats.added), (3, 1, Some(0), 2.0));
        assert!(backlog.remove(&places[1]));
        assert!(pop(&mut backlog).is_none());
    }

    #[test]
    fn keys_that_come_and_go_are_forgotten() {
        let mut backlog = of(&[rank(3, "stays", 0.001)]);
        backlog.insert(rank(3, "stays", 0.001), (1, 1), 1, Task::Workflow, 0);
        pop(&mut backlog);
        for i in 0..1000 {
            backlog.insert(rank(3, &format!("key {i}"), 1.0), (i, i as u64), 2, Task::Workflow, 0);
            assert_eq!(pop(&mut backlog), Some((2, Task::Workflow)));
        }
        let level = backlog.levels.get(&3).unwrap();
        assert!(level.shares.len() <= 2 * level.next.len() + REMEMBERED_KEYS, "{}", level.shares.len());
    }
}
