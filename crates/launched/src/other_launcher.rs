//! Launchers of other MPIs, which start several processes of which each is a run of one rank.

/// A launcher, and the variables that it sets.
struct Launcher {
    name: &'static str,
    /// The number of the process.
    rank: &'static str,
    /// The number of processes.
    size: &'static str,
    /// A variable that other programs do not set in its place: one of these must be there.
    marks: &'static [&'static str],
}

const LAUNCHERS: [Launcher; 3] = [
    Launcher {
        name: "Open MPI's mpirun",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        marks: &["PMIX_RANK"],
    },
    Launcher {
        name: "the mpiexec of MPICH or Intel MPI",
        rank: "PMI_RANK",
        size: "PMI_SIZE",
        marks: &["PMI_FD", "PMI_PORT"],
    },
    Launcher {
        name: "srun",
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        marks: &["SLURM_STEP_ID"],
    },
];

/// Variable of every rank of a launcher of ours. Programs that a rank starts have it, too.
const OURS: &str = "CORNERSTONE_MPI_RANK";

/// Returns the warning of the first of several processes that another launcher has started. `variable` returns a
/// variable of the environment. A program that a rank of ours has started is alone on purpose.
pub(crate) fn warning(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    if variable(OURS).is_some() {
        return None;
    }
    let started = |launcher: &&Launcher| {
        let number = |name| variable(name)?.parse::<usize>().ok();
        let is_there = launcher.marks.iter().any(|mark| variable(mark).is_some());
        is_there && number(launcher.rank) == Some(0) && number(launcher.size) > Some(1)
    };
    let Launcher { name, size, .. } = LAUNCHERS.iter().find(started)?;
    let size = variable(size)?;
    Some(format!(
        "cornerstone: warning: {name} has started {size} processes of this program, and each is a run of one rank, because \
         the program uses Cornerstone's MPI library\n  hint: start it by Cornerstone's mpiexec"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(variables: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| variables.iter().find(|(its_name, _)| *its_name == name);
        warning(|name| value(name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn the_first_of_several_processes_of_another_launcher_warns() {
        let hydra = [("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("PMI_FD", "7")];
        let text = warned(&hydra).unwrap();
        assert!(text.contains("MPICH or Intel MPI has started 4 processes"), "{text}");
        let open_mpi =
            [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0")];
        assert!(warned(&open_mpi).unwrap().contains("Open MPI's mpirun has started 2"));
        let srun = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "3"), ("SLURM_STEP_ID", "0")];
        assert!(warned(&srun).unwrap().contains("srun has started 3"));
    }

    #[test]
    fn others_are_silent() {
        for variables in [
            &[][..],
            &[("PMI_RANK", "1"), ("PMI_SIZE", "4"), ("PMI_FD", "7")],
            &[("PMI_RANK", "0"), ("PMI_SIZE", "1"), ("PMI_FD", "7")],
            // Our launcher sets these two, and a rank may start programs.
            &[("PMI_RANK", "0"), ("PMI_SIZE", "4")],
            &[("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("PMI_FD", "7"), ("CORNERSTONE_MPI_RANK", "2")],
            &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "3")],
        ] {
            assert_eq!(warned(variables), None, "{variables:?}");
        }
    }
}
