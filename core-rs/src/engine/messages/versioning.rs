//! Versions of worker deployments, and what a run remembers of them.
use crate::engine::message::message;

message! {
    Version: deployment::WorkerDeploymentVersion { build_id str, deployment_name str, }
    Deployment: deployment::Deployment { series_name str, build_id str, }
    DeploymentOptions: deployment::WorkerDeploymentOptions { deployment_name str, build_id str, worker_versioning_mode i32, }
    AutoUpgradeInfo: deployment::InheritedAutoUpgradeInfo {
        source_deployment_version msg(Version), source_deployment_revision_number i64,
        continue_as_new_initial_versioning_behavior i32,
    }
    Override: workflow::VersioningOverride {
        behavior i32, deployment msg(Deployment), pinned msg(Pinned), auto_upgrade bool, one_time msg(OneTime), pinned_version str,
    }
    Pinned: workflow::VersioningOverridePinnedOverride { behavior i32, version msg(Version), }
    OneTime: workflow::VersioningOverrideOneTimeOverride { target_deployment_version msg(Version), }
    Transition: workflow::DeploymentVersionTransition { deployment_version msg(Version), }
    /// Overrides are in their newest form.
    Versioning: workflow::WorkflowExecutionVersioningInfo {
        behavior i32, versioning_override msg(Override), version str, version_transition msg(Transition),
        deployment_version msg(Version), revision_number i64, continue_as_new_initial_versioning_behavior i32,
    }
    Queues: engine::Routing { queues reps(RoutedQueue), }
    RoutedQueue: engine::RoutedQueue {
        name str, activities bool, versions reps(Version), current msg(Version), current_revision i64, ramping msg(Version),
        ramping_revision i64, ramping_percentage double,
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.build_id == other.build_id && self.deployment_name == other.deployment_name
    }
}

impl Version {
    /// As search attributes and errors show it.
    pub fn text(&self) -> String {
        format!("{}:{}", self.deployment_name, self.build_id)
    }
}
