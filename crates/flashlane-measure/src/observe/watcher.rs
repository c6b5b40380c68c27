//! The observer as the watcher of a drive.

use flashlane_device::flash::ArrayWork;
use std::any::Any;

use flashlane_engine::Time;
use flashlane_units::{ChipId, DieId, FlowId, JobId, Lpa, PlaneId, RequestId, TransactionId};

use super::Observer;
use flashlane_device::cause::Cause;
use flashlane_device::device::watcher::{DieAt, Front, Watcher};
use flashlane_device::event::Event;
use flashlane_device::flash::Running;
use flashlane_device::request::Requests;
use flashlane_device::transaction::{Op, Transaction, Transactions};

impl Observer {
    /// The observer that watches a drive, if the watcher is one.
    pub(crate) fn seen_as(watcher: &dyn Watcher) -> Option<&Self> {
        (watcher as &dyn Any).downcast_ref()
    }

    /// The observer that watched a drive, if the watcher is one.
    pub(crate) fn of_watcher(watcher: Box<dyn Watcher>) -> Option<Box<Self>> {
        (watcher as Box<dyn Any>).downcast().ok()
    }
}

impl Watcher for Observer {
    #[cold]
    fn fetch(&mut self, id: RequestId, at_limit: bool) {
        Self::fetch(self, id, at_limit);
    }

    #[cold]
    fn held_back(&mut self, id: RequestId, in_host: Option<u64>) {
        Self::held_back(self, id, in_host);
    }

    #[cold]
    fn firmware(&mut self, id: RequestId, work: u64) {
        Self::firmware(self, id, work);
    }

    #[cold]
    fn own_firmware(&mut self, tr: &Transaction, work: u64) {
        Self::own_firmware(self, tr, work);
    }

    #[cold]
    fn begin(&mut self, now: Time, id: RequestId, flow: FlowId, arrival: Time) {
        Self::begin(self, now, id, flow, arrival);
    }

    #[cold]
    fn enlisted(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction) {
        Self::enlisted(self, now, chip, id, tr);
    }

    #[cold]
    fn page_begins(&mut self, leader: TransactionId) {
        Self::page_begins(self, leader);
    }

    #[cold]
    fn rode(&mut self, id: TransactionId, tr: &Transaction, leader: TransactionId) {
        Self::rode(self, id, tr, leader);
    }

    #[cold]
    fn delisted(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction) {
        Self::delisted(self, now, chip, id, tr);
    }

    #[cold]
    fn command(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions) {
        Self::command(self, now, at, command, transactions);
    }

    #[cold]
    fn plane_read(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions) {
        Self::plane_read(self, now, at, command, transactions);
    }

    #[cold]
    fn data_moves(&mut self, tr: &Transaction, time: Time) {
        Self::data_moves(self, tr, time);
    }

    #[cold]
    fn operation(&mut self, tr: &Transaction, op: Op, work: ArrayWork) {
        Self::operation(self, tr, op, work);
    }

    #[cold]
    fn transfer(
        &mut self,
        now: Time,
        at: DieAt,
        read: (TransactionId, &Transaction),
        duration: u64,
        more: bool,
    ) {
        Self::transfer(self, now, at, read, duration, more);
    }

    #[cold]
    fn decoded(&mut self, id: TransactionId, took: Time) {
        Self::decoded(self, id, took);
    }

    #[cold]
    fn resumption(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions) {
        Self::resumption(self, now, at, command, transactions);
    }

    #[cold]
    fn register(&mut self, now: Time, at: DieAt, command: &Running, transactions: &Transactions) {
        Self::register(self, now, at, command, transactions);
    }

    #[cold]
    fn register_begins(
        &mut self,
        now: Time,
        at: DieAt,
        command: &Running,
        transactions: &Transactions,
    ) {
        Self::register_begins(self, now, at, command, transactions);
    }

    #[cold]
    fn idle(&mut self, now: Time, die: DieId) {
        Self::idle(self, now, die);
    }

    #[cold]
    fn part(&mut self, now: Time, id: TransactionId, tr: &Transaction, begun: Time) {
        Self::part(self, now, id, tr, begun);
    }

    #[cold]
    fn program(&mut self, tr: &Transaction) {
        Self::program(self, tr);
    }

    #[cold]
    fn write_back(&mut self, id: TransactionId, tr: &Transaction, pool: usize) {
        Self::write_back(self, id, tr, pool);
    }

    #[cold]
    fn translation_program(&mut self, id: TransactionId, tr: &Transaction) {
        Self::translation_program(self, id, tr);
    }

    #[cold]
    fn translation(
        &mut self,
        now: Time,
        waiter: (TransactionId, &Transaction),
        since: u64,
        read: TransactionId,
    ) {
        Self::translation(self, now, waiter, since, read);
    }

    #[cold]
    fn end(&mut self, id: TransactionId) {
        Self::end(self, id);
    }

    #[cold]
    fn eviction(&mut self, lpa: Lpa, flow: FlowId) {
        Self::eviction(self, lpa, flow);
    }

    #[cold]
    fn die_wait(
        &mut self,
        now: Time,
        waiter: (TransactionId, &Transaction),
        die: DieId,
        since: u64,
        idle: Cause,
    ) {
        Self::die_wait(self, now, waiter, die, since, idle);
    }

    #[cold]
    fn same_page(&mut self, now: Time, waiter: (TransactionId, &Transaction), since: u64) {
        Self::same_page(self, now, waiter, since);
    }

    #[cold]
    fn merged(
        &mut self,
        now: Time,
        write: (TransactionId, &Transaction),
        read: TransactionId,
        queued: bool,
    ) {
        Self::merged(self, now, write, read, queued);
    }

    #[cold]
    fn job(&mut self, plane: PlaneId, job: JobId, owner: FlowId, valid: u32) {
        Self::job(self, plane, job, owner, valid);
    }

    #[cold]
    fn dram(
        &mut self,
        now: Time,
        flow: FlowId,
        times: (Time, Time),
        asked: Option<Time>,
        done: Option<Event>,
    ) {
        Self::dram(self, now, flow, times, asked, done);
    }

    #[cold]
    fn dram_queue(&mut self, now: Time, done: Option<Event>) {
        Self::dram_queue(self, now, done);
    }

    #[cold]
    fn held(&mut self, now: Time, id: RequestId) {
        Self::held(self, now, id);
    }

    #[cold]
    fn completion(
        &mut self,
        now: Time,
        id: RequestId,
        front: &Front,
        requests: &Requests,
        transactions: &Transactions,
    ) {
        Self::completion(self, now, id, front, requests, transactions);
    }
}
