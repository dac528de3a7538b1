/**
 * Bindings and settings of the Worker. Settings are texts in the environment. settings.ts parses and checks them, and
 * other code reads the result. A setting that is empty, too short, unreadable or contradictory is refused, and so is
 * an unknown name.
 */
import type { ControllerCalls, ShardCalls } from './storage/shards/object-calls.ts'

export interface Env {
  /** The front of a local server, which writes the audit log to a file. */
  readonly AUDIT_LOG?: Fetcher
  /** The front as it calls webhooks: it can trust only the authorities of a caBundle. */
  readonly OUTGOING?: Fetcher
  /** The front as it passes requests on to aggregated APIs and nodes. Present where OUTGOING is. */
  readonly EXCHANGES?: Fetcher
  /** The front as it reads configurations whose files may change: `/authentication`, `/authorization`. */
  readonly CONFIGURATION?: Fetcher
  readonly SHARDS: DurableObjectNamespace<ShardCalls>
  readonly CONTROLLERS: DurableObjectNamespace<ControllerCalls>
  /** Bearer token of the administrator (a member of system:masters), 32 characters or more. */
  readonly KEDGE_ADMIN_TOKEN?: string
  /** PEM of the CA that signs the server's certificate and client certificates. It is published as kube-root-ca.crt. */
  readonly KEDGE_CA?: string
  /**
   * PEM (PKCS #8) of that CA's key, which needs KEDGE_CA. It signs certificates that are requested through the API.
   * RSA of 2048 bits or more, or EC on P-256, P-384 or P-521 with its public key in it.
   */
  readonly KEDGE_CA_KEY?: string
  /**
   * PEM of the CA of front proxies. A client with its certificate may name the user of a request in X-Remote-*
   * headers. It must differ from KEDGE_CA.
   */
  readonly KEDGE_REQUESTHEADER_CA?: string
  /**
   * PEM of further authorities whose client certificates are accepted, beside KEDGE_CA, as --client-ca-file. Like
   * KEDGE_CA it must differ from KEDGE_REQUESTHEADER_CA.
   */
  readonly KEDGE_CLIENT_CA?: string
  /**
   * PEM of the authorities with which pods verify the server, published as kube-root-ca.crt. Default KEDGE_CA: it is
   * set where another authority has signed the server's certificate.
   */
  readonly KEDGE_ROOT_CA?: string
  /** Base64 of the key with which the local server's front authenticates its statements. Each engine has a new one. */
  readonly KEDGE_FRONT_KEY?: string
  /** Ids of the objects whose databases were on the local server's disk when the engine started, with commas. */
  readonly KEDGE_DATABASES?: string
  /**
   * Encrypts objects at rest: `ID:BASE64` of 32 bytes, with commas. The first key seals new values, and all keys open
   * stored ones. `identity` as the first entry stores new values unencrypted.
   */
  readonly KEDGE_ENCRYPTION_KEYS?: string
  /** The encrypted resources: `secrets,things.example.com`. Default `secrets`. */
  readonly KEDGE_ENCRYPTION_RESOURCES?: string
  /** The private JWK that signs ServiceAccount tokens: RSA of 2048 bits or more, or EC on P-256, P-384 or P-521. */
  readonly KEDGE_SA_KEY?: string
  /** A JWKS of former public keys, whose tokens are valid until they expire. `kedge keys rotate` adds to it. */
  readonly KEDGE_SA_RETIRED_KEYS?: string
  /**
   * The external signer of these tokens, which has the keys instead (docs/access.md), in JSON: `{"url":
   * "https://…"}`, in the form of webhooks/webhook-connection.ts.
   */
  readonly KEDGE_SA_SIGNER?: string
  /** The longest lifetime of such a token in seconds, as --service-account-max-token-expiration. */
  readonly KEDGE_SA_MAX_TOKEN_SECONDS?: string
  /**
   * `0`: tokens of kubelets get only the requested lifetime, as with --service-account-extend-token-expiration=false.
   */
  readonly KEDGE_SA_EXTEND_TOKENS?: string
  /** URLs of issuers, with commas. New tokens have the first one, and tokens of all are accepted. */
  readonly KEDGE_ISSUER?: string
  /** Names of this server in the audiences of tokens, with commas, as --api-audiences. Default: the issuers. */
  readonly KEDGE_API_AUDIENCES?: string
  /**
   * The web pages that may call this server from a browser: regular expressions of their origins, with commas, as
   * --cors-allowed-origins: `^https://app\.example\.com$`.
   */
  readonly KEDGE_CORS_ALLOWED_ORIGINS?: string
  /**
   * The most requests that an isolate serves at once, as --max-requests-inflight (400), and the same for writes
   * (200).
   */
  readonly KEDGE_MAX_REQUESTS_INFLIGHT?: string
  readonly KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT?: string
  /** The most open watches of an isolate, and of one resource in all isolates (3000), which users share fairly. */
  readonly KEDGE_MAX_WATCHES?: string
  /**
   * How many subrequests the controllers make in one invocation: on Cloudflare those of the plan and of `[limits]` in
   * wrangler.toml. Default 1000, as on the free plan, where 50 of them may leave Cloudflare. `unlimited`: the engine
   * limits neither their number nor the depth of calls between objects (docs/cloudflare.md).
   */
  readonly KEDGE_SUBREQUESTS?: string
  /**
   * MiB that the controllers of a control plane may hold in large lists (40, which fits an isolate of 128 MB; 256 on a
   * local server). Three quarters are for one namespace at most.
   */
  readonly KEDGE_CONTROLLER_MEMORY?: string
  /** CIDR of Service cluster IPs, or one for each family with a comma between them. */
  readonly KEDGE_SERVICE_RANGE?: string
  /** The node ports of Services, as --service-node-port-range. Default 30000-32767. */
  readonly KEDGE_NODE_PORT_RANGE?: string
  /**
   * How long Events live, as --event-ttl: a duration of a second to a year. Default `1h0m0s`; `0` keeps them for ever.
   */
  readonly KEDGE_EVENT_TTL?: string
  /**
   * For how many seconds pods stay on a node that is not ready, or unreachable, unless they say otherwise, as
   * --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds (300).
   */
  readonly KEDGE_DEFAULT_NOT_READY_TOLERATION_SECONDS?: string
  readonly KEDGE_DEFAULT_UNREACHABLE_TOLERATION_SECONDS?: string
  /**
   * A watch without `timeoutSeconds` lives for this many seconds or up to twice as many, at random, as
   * --min-request-timeout (1800).
   */
  readonly KEDGE_MIN_REQUEST_TIMEOUT?: string
  /**
   * How long a request may take, except watches, logs, backups and the like, as --request-timeout: a duration of a second to a
   * day. Default `1m0s`. The query parameter `timeout` can ask for less.
   */
  readonly KEDGE_REQUEST_TIMEOUT?: string
  /** `api/all=true,group/version=false,…` as kube-apiserver's --runtime-config. */
  readonly KEDGE_RUNTIME_CONFIG?: string
  /** `Gate=true,…` as kube-apiserver's --feature-gates. */
  readonly KEDGE_FEATURE_GATES?: string
  /**
   * `1`: the first request to a control plane after a start of the engine, or of an isolate, puts default roles
   * and their bindings, and APIServices of built-in versions right, as kube-apiserver does at its start. A local server
   * has it. Default: only another release or other settings do so.
   */
  readonly KEDGE_REPAIR_AT_START?: string
  /** `1`: shards count how often they are constructed, which costs a written row each time. For measurements. */
  readonly KEDGE_COUNT_WAKES?: string
  /**
   * How long old versions stay readable for watches, snapshots and continue tokens, in seconds; `TENANT=SECONDS` for
   * tenants that differ, with commas. Default 300.
   */
  readonly KEDGE_HISTORY_SECONDS?: string
  /** Content-Encoding of streams: `identity` where the platform would otherwise compress a stream, and hold it back. */
  readonly KEDGE_STREAM_ENCODING?: string
  /** host:port at which clients reach the server. */
  readonly KEDGE_ADVERTISE?: string
  /** An audit.k8s.io/v1 Policy in JSON, which says which requests are audited and how. Without it none is audited. */
  readonly KEDGE_AUDIT_POLICY?: string
  /**
   * `batch` (default), `blocking` or `blocking-strict`, as kube-apiserver's --audit-log-mode, for the local server's
   * file.
   */
  readonly KEDGE_AUDIT_LOG_MODE?: string
  /**
   * Where audit events are sent, in JSON: `{"url": "https://…", "token": "…", "mode": "batch"}`. The last two are
   * optional.
   */
  readonly KEDGE_AUDIT_WEBHOOK?: string
  /**
   * `1`: audit events go to the log also where there is a file or a webhook. Without both they always go to the log.
   */
  readonly KEDGE_AUDIT_CONSOLE?: string
  /** From 0 (default) to 10, as kube-apiserver's -v. From 3 on there is a log line for each request. */
  readonly KEDGE_VERBOSITY?: string
  /** Names of additional admission plugins with commas, as --enable-admission-plugins. */
  readonly KEDGE_ENABLE_ADMISSION_PLUGINS?: string
  /** Names of admission plugins with commas, as --disable-admission-plugins. */
  readonly KEDGE_DISABLE_ADMISSION_PLUGINS?: string
  /**
   * An AdmissionConfiguration (apiserver.config.k8s.io/v1) in JSON, as --admission-control-config-file. The plugins'
   * configurations are inline, because there are no files, and `kubeConfig` has the content of a kubeConfigFile. It
   * is a secret where it has keys.
   */
  readonly KEDGE_ADMISSION_CONFIG?: string
  /**
   * The addresses of Services for webhooks and aggregated APIs: `NAMESPACE/NAME:PORT=https://HOST/PATH`, with commas.
   */
  readonly KEDGE_SERVICES?: string
  /**
   * PEM of the CA of kubelets' serving certificates, as --kubelet-certificate-authority. Without it those
   * certificates are not verified. It needs OUTGOING.
   */
  readonly KEDGE_KUBELET_CA?: string
  /**
   * The types of nodes' addresses, the one first by which kubelets are to be called, with commas, as
   * --kubelet-preferred-address-types. Default `Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP`.
   */
  readonly KEDGE_KUBELET_PREFERRED_ADDRESS_TYPES?: string
  /**
   * Hosts, with commas, that are called with the platform's trust in public authorities although a caBundle names
   * others. Ignored where OUTGOING is present.
   */
  readonly KEDGE_UNPINNED_HOSTS?: string
  /** An AuthenticationConfiguration (apiserver.config.k8s.io/v1 or v1beta1), in YAML or JSON. */
  readonly KEDGE_AUTHENTICATION_CONFIG?: string
  /** Allowed algorithms for the tokens of these issuers, with commas. Default: all asymmetric ones of RFC 7518. */
  readonly KEDGE_OIDC_SIGNING_ALGS?: string
  /**
   * `0`: a request without credentials is refused, as with --anonymous-auth=false. `default-0`: unless the
   * AuthenticationConfiguration says more of such requests.
   */
  readonly KEDGE_ANONYMOUS_AUTH?: string
  /** Static tokens: rows of `token,user,uid,"group,group"`, as in the file of --token-auth-file. */
  readonly KEDGE_TOKEN_AUTH_FILE?: string
  /**
   * Which workload controllers run (docs/workloads.md): `off` (default), `controllers`, or `simulated`, which also
   * runs a scheduler and simulates nodes with the label kedge.dev/simulated=true.
   */
  readonly KEDGE_WORKLOADS?: string
  /** Images that simulated nodes cannot pull: `broken,registry.example.com/*`. */
  readonly KEDGE_MISSING_IMAGES?: string
  /** The controllers to run, as kube-controller-manager's --controllers: `*,-cronjob-controller`. Default: all. */
  readonly KEDGE_CONTROLLERS?: string
  /**
   * A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) in JSON, as kube-scheduler's --config: the profiles of the
   * scheduler (docs/workloads.md).
   */
  readonly KEDGE_SCHEDULER_CONFIG?: string
  /**
   * The webhook that reviews tokens, in JSON: `{"connection": {"url": "https://…"}, "version": "v1", "cacheSeconds":
   * 120}`. webhooks/connection.ts describes a connection.
   */
  readonly KEDGE_AUTHENTICATION_TOKEN_WEBHOOK?: string
  /** An AuthorizationConfiguration (apiserver.config.k8s.io/v1, v1beta1), in YAML or JSON. Default: Node, then RBAC. */
  readonly KEDGE_AUTHORIZATION_CONFIG?: string
  /** Connections of its webhooks, in JSON, by the kubeconfig paths in that configuration: `{"/PATH": {"url": …}}`. */
  readonly KEDGE_WEBHOOK_CONNECTIONS?: string
  /** UID of the root control plane, which is part of every shard name and cache key. Default `root`. */
  readonly KEDGE_ROOT_TENANT?: string
}
