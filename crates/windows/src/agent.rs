//! The agent of a member, which answers in the member's place if the network executes accesses by itself.

use std::cell::RefCell;
use std::rc::Rc;

use super::requests::answer_tag;
use super::server::Server;
use endpoint::{Agent, AgentAnswer};

/// The agent of a member's memory. It shares the memory's server with the member's window.
pub(super) struct MemberAgent {
    server: Rc<RefCell<Server>>,
    /// The members' ranks in the run.
    ranks: Box<[usize]>,
}

impl MemberAgent {
    pub(super) fn new(server: &Rc<RefCell<Server>>, ranks: &[usize]) -> Self {
        MemberAgent { server: Rc::clone(server), ranks: ranks.into() }
    }
}

impl Agent for MemberAgent {
    fn serve(&mut self, source: usize, request: &[u8], answers: &mut Vec<AgentAnswer>) -> bool {
        let member = self.ranks.iter().position(|&rank| rank == source);
        let member = member.expect("only members send in a window's context");
        let (mut server, mut given) = (self.server.borrow_mut(), Vec::new());
        let is_notice = server.serve(member, request, &mut given);
        server.grant(&mut given);
        answers.extend(given.into_iter().map(|one| AgentAnswer {
            to: self.ranks[one.member],
            tag: answer_tag(one.ticket),
            data: one.data,
        }));
        is_notice
    }
}
