using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "data", disk = (path = "data", writable = true)) ],
  sockets = [ (name = "http", http = (), service = "main") ]
);

const main :Workerd.Worker = (
  modules = [ (name = "worker.js", esModule = embed "worker.js") ],
  compatibilityDate = "2026-10-01",
  durableObjectNamespaces = [ (className = "ResourceShard", uniqueKey = "shards", enableSql = true) ],
  durableObjectStorage = (localDisk = "data"),
  bindings = [ (name = "SHARDS", durableObjectNamespace = "ResourceShard") ],
);
