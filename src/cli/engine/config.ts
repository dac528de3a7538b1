// The configuration of the local engine (workerd), in Cap'n Proto's text form: workerd.capnp in the npm package documents it.
import { FRONT_STATEMENT } from '../../authentication/front-statement.ts'
import type { WranglerConfig } from './wrangler-config.ts'

/**
 * The engine collects new objects after 8 MiB, not after 32 as V8 does by default, and V8 lets the heap of old objects
 * grow in small steps. With 16 MiB the process has 30 MB more after a thousand definitions, and works of controllers cost
 * a tenth less CPU time (docs/decisions.md).
 */
const V8_FLAGS = ['--max-semi-space-size=8', '--memory-saver-mode']
/** Where the front lets the engine collect its garbage (engine/memory.ts), the isolate has the function `gc`. */
const COLLECTING_FLAGS = ['--expose-gc']

export interface EngineConfig {
  readonly worker: WranglerConfig
  /** Files beside the configuration, in `worker/`; the entry is first. */
  readonly modules: readonly string[]
  /** Settings and secrets for this server, by name; they replace the variables of wrangler.toml. */
  readonly settings: Readonly<Record<string, string>>
  /** Path of the directory with the databases of Durable Objects. */
  readonly objects: string
  /** Path of the socket for requests without a statement: `request.cf` is empty there. */
  readonly socket: string
  /** Path of the socket for requests with a statement of the front; absent where there is none. */
  readonly attestedSocket?: string
  /** Path of the socket where a POST collects the garbage; absent where nobody does. */
  readonly collectionSocket?: string
  /** Path of the socket that takes audit events. */
  readonly auditSocket?: string
  /** Paths of the sockets that take calls to other servers, and requests that are passed on to them. */
  readonly outgoingSockets?: { readonly calls: string; readonly exchanges: string }
  /** Path of the socket that answers with configurations whose files may change. */
  readonly configurationSocket?: string
}

export function engineConfig({
  worker,
  modules,
  settings,
  objects,
  socket,
  attestedSocket,
  collectionSocket,
  auditSocket,
  outgoingSockets,
  configurationSocket,
}: EngineConfig): string {
  const bindings = [
    ...worker.durableObjects.map(
      ({ name, className }) => `(name = ${text(name)}, durableObjectNamespace = ${text(className)})`,
    ),
    ...Object.entries({ ...worker.vars, ...settings }).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...(auditSocket === undefined ? [] : ['(name = "AUDIT_LOG", service = "audit")']),
    ...(outgoingSockets === undefined
      ? []
      : ['(name = "OUTGOING", service = "outgoing")', '(name = "EXCHANGES", service = "exchanges")']),
    ...(configurationSocket === undefined ? [] : ['(name = "CONFIGURATION", service = "configuration")']),
  ]
  // the unique key is part of the databases' path, so a class must never change its own
  const namespaces = worker.durableObjects.map(
    ({ className }) => `(className = ${text(className)}, uniqueKey = ${text(`kedge-${className}`)}, enableSql = true)`,
  )
  const services = [
    '(name = "worker", worker = .apiServer)',
    `(name = "objects", disk = (path = ${text(objects)}, writable = true))`,
    '(name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true)))',
    ...(auditSocket === undefined ? [] : [external('audit', auditSocket)]),
    ...(outgoingSockets === undefined
      ? []
      : [external('outgoing', outgoingSockets.calls), external('exchanges', outgoingSockets.exchanges)]),
    ...(configurationSocket === undefined ? [] : [external('configuration', configurationSocket)]),
  ]
  const sockets = [
    `(name = "front", address = ${text(`unix:${socket}`)}, service = "worker", http = ())`,
    ...(attestedSocket === undefined ? [] : [attested(attestedSocket)]),
    ...(collectionSocket === undefined ? [] : [collecting(collectionSocket)]),
  ]
  const v8Flags = [...V8_FLAGS, ...(collectionSocket === undefined ? [] : COLLECTING_FLAGS)]
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  v8Flags = [${v8Flags.map(text).join(', ')}],
  services = [
    ${services.join(',\n    ')}
  ],
  sockets = [
    ${sockets.join(',\n    ')}
  ]
);

const apiServer :Workerd.Worker = (
  modules = [
    ${modules.map((name) => `(name = ${text(name)}, ${moduleKind(name)} = embed ${text(`worker/${name}`)})`).join(',\n    ')}
  ],
  compatibilityDate = ${text(worker.compatibilityDate)},
  compatibilityFlags = [${worker.compatibilityFlags.map(text).join(', ')}],
  durableObjectNamespaces = [
    ${namespaces.join(',\n    ')}
  ],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [
    ${bindings.join(',\n    ')}
  ]
);
`
}

const external = (name: string, socket: string): string =>
  `(name = ${text(name)}, external = (address = ${text(`unix:${socket}`)}, http = ()))`

const attested = (path: string): string =>
  `(name = "attested", address = ${text(`unix:${path}`)}, ` +
  `service = (name = "worker", entrypoint = "AttestedRequests"), http = (cfBlobHeader = ${text(FRONT_STATEMENT)}))`

const collecting = (path: string): string =>
  `(name = "collection", address = ${text(`unix:${path}`)}, ` +
  `service = (name = "worker", entrypoint = "GarbageCollection"), http = ())`

/** JavaScript, or a packed table. */
const moduleKind = (name: string): string => (name.endsWith('.js') ? 'esModule' : 'data')

/** A Text literal: as in C, and so as in JSON, except for \u. */
function text(value: string): string {
  return JSON.stringify(value).replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
}
