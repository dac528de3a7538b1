using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [ (name = "worker", worker = .worker), (name = "client", worker = .client) ],
  sockets = [ (name = "http", service = "client") ],
);

const worker :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed "worker.js") ],
  compatibilityDate = "2026-10-01",
);

const client :Workerd.Worker = (
  modules = [ (name = "client.js", esModule = embed "client.js") ],
  compatibilityDate = "2026-10-01",
  bindings = [ (name = "WORKER", service = "worker") ],
);
