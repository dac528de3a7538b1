/**
 * Bindings and settings of the Worker. Settings are text in the environment, which settings.ts parses and checks: code
 * reads them there. What is empty, too short, unreadable or contradicts itself is refused, and so is a name that is none.
 */
import type { ControllerCalls, ShardCalls } from './storage/object-calls.ts'

export interface Env {
  /** The process in front of a local server, which keeps its audit log in a file. */
  readonly AUDIT_LOG?: Fetcher
  /** The same process, which calls webhooks: it can pin the authorities that a caBundle names. */
  readonly OUTGOING?: Fetcher
  /** The same process, which passes requests on to aggregated APIs and nodes. Where OUTGOING is. */
  readonly EXCHANGES?: Fetcher
  /** The same process, which reads configurations whose files may change: `/authentication`, `/authorization`. */
  readonly CONFIGURATION?: Fetcher
  readonly SHARDS: DurableObjectNamespace<ShardCalls>
  readonly CONTROLLERS: DurableObjectNamespace<ControllerCalls>
  /** Bearer token of the administrator (a member of system:masters), 32 characters or more. */
  readonly KEDGE_ADMIN_TOKEN?: string
  /** PEM of the CA: signs the server's certificate and client certificates; published as kube-root-ca.crt. */
  readonly KEDGE_CA?: string
  /**
   * PEM (PKCS #8) of that CA's key, not without KEDGE_CA: signs certificates that were requested through the API. RSA of
   * 2048 bits or more, or EC on P-256, P-384 or P-521 with its public key in it.
   */
  readonly KEDGE_CA_KEY?: string
  /**
   * PEM of the CA of front proxies: who presents its certificate may say in X-Remote-* headers for whom it asks. Another
   * one than KEDGE_CA.
   */
  readonly KEDGE_REQUESTHEADER_CA?: string
  /** Base64 of the key with which the local server's front authenticates its statements; made anew for each engine. */
  readonly KEDGE_FRONT_KEY?: string
  /** Ids of the objects whose databases were on the local server's disk when the engine started, with commas. */
  readonly KEDGE_DATABASES?: string
  /**
   * Encrypts objects at rest: `ID:BASE64` of 32 bytes, with commas. The first key seals what is written, all open what is
   * read. `identity` in the first place stores what is written in the open.
   */
  readonly KEDGE_ENCRYPTION_KEYS?: string
  /** Whose objects are encrypted: `secrets,things.example.com`. Default `secrets`. */
  readonly KEDGE_ENCRYPTION_RESOURCES?: string
  /** Private JWK that signs service-account tokens: RSA of 2048 bits or more, or EC on P-256, P-384 or P-521. */
  readonly KEDGE_SA_KEY?: string
  /** A JWKS of public keys that signed before: tokens that they signed are good until they end. `kedge keys rotate`. */
  readonly KEDGE_SA_RETIRED_KEYS?: string
  /**
   * The external signer of these tokens, which has the keys instead (docs/access.md), in JSON: `{"url": "https://…"}`, as
   * webhooks/webhook-connection.ts says.
   */
  readonly KEDGE_SA_SIGNER?: string
  /** The longest time that such a token may live, as --service-account-max-token-expiration: seconds. */
  readonly KEDGE_SA_MAX_TOKEN_SECONDS?: string
  /** `0`: tokens of kubelets live no longer than they ask, as --service-account-extend-token-expiration=false. */
  readonly KEDGE_SA_EXTEND_TOKENS?: string
  /**
   * Issuers, with commas: URLs. The first one's tokens are made, those of all are taken, and all are audiences that
   * stand for this server.
   */
  readonly KEDGE_ISSUER?: string
  /** How many requests an isolate serves at once, as --max-requests-inflight (400) and the one for writes (200). */
  readonly KEDGE_MAX_REQUESTS_INFLIGHT?: string
  readonly KEDGE_MAX_MUTATING_REQUESTS_INFLIGHT?: string
  /** CIDR of Service cluster IPs, or one of each family with a comma between. */
  readonly KEDGE_SERVICE_RANGE?: string
  /** `api/all=true,group/version=false,…` as kube-apiserver's --runtime-config. */
  readonly KEDGE_RUNTIME_CONFIG?: string
  /** `Gate=true,…` as --feature-gates. */
  readonly KEDGE_FEATURE_GATES?: string
  /** `1`: shards count how often they are constructed, which costs a written row each time. For measuring. */
  readonly KEDGE_COUNT_WAKES?: string
  /**
   * How long old versions stay readable for watches, snapshots and continue tokens: seconds, and for tenants that
   * differ `TENANT=SECONDS`, with commas. Default 300.
   */
  readonly KEDGE_HISTORY_SECONDS?: string
  /** Content-Encoding of streams: `identity` where the platform would compress, and hold back, what has none. */
  readonly KEDGE_STREAM_ENCODING?: string
  /** host:port under which clients reach the server. */
  readonly KEDGE_ADVERTISE?: string
  /** An audit.k8s.io/v1 Policy in JSON: which requests are audited, and how. Without it none is. */
  readonly KEDGE_AUDIT_POLICY?: string
  /** `batch` (default), `blocking` or `blocking-strict`, as kube-apiserver's --audit-log-mode: of the local server's file. */
  readonly KEDGE_AUDIT_LOG_MODE?: string
  /** Where audit events are sent, in JSON: `{"url": "https://…", "token": "…", "mode": "batch"}`; the last two may be left out. */
  readonly KEDGE_AUDIT_WEBHOOK?: string
  /** `1`: audit events also go to the log where there is a file or a webhook. Without both they always do. */
  readonly KEDGE_AUDIT_CONSOLE?: string
  /** From 0 (default) to 10, as kube-apiserver's -v: from 3 on a line is logged of every request. */
  readonly KEDGE_VERBOSITY?: string
  /** Names of admission plugins with commas, as --enable-admission-plugins: beside those that run by default. */
  readonly KEDGE_ENABLE_ADMISSION_PLUGINS?: string
  /** As --disable-admission-plugins. */
  readonly KEDGE_DISABLE_ADMISSION_PLUGINS?: string
  /**
   * An AdmissionConfiguration (apiserver.config.k8s.io/v1) in JSON, as --admission-control-config-file. There are no
   * files: configurations stand in it, and `kubeConfig` has what a kubeConfigFile would. A secret where that has keys.
   */
  readonly KEDGE_ADMISSION_CONFIG?: string
  /** Where Services are, for webhooks and aggregated APIs: `NAMESPACE/NAME:PORT=https://HOST/PATH`, with commas. */
  readonly KEDGE_SERVICES?: string
  /**
   * PEM of who signs kubelets' serving certificates, as --kubelet-certificate-authority. Without it they are not looked at.
   * Of no meaning where OUTGOING is not.
   */
  readonly KEDGE_KUBELET_CA?: string
  /**
   * Hosts, with commas, that are called on the platform's trust in public authorities although a caBundle names others.
   * Of no meaning where OUTGOING is.
   */
  readonly KEDGE_UNPINNED_HOSTS?: string
  /** An AuthenticationConfiguration (apiserver.config.k8s.io/v1 or v1beta1), in YAML or JSON. */
  readonly KEDGE_AUTHENTICATION_CONFIG?: string
  /** Algorithms, with commas, that tokens of these issuers may be signed with. Default: all asymmetric ones of RFC 7518. */
  readonly KEDGE_OIDC_SIGNING_ALGS?: string
  /** `0`: a request without credentials is refused, as with --anonymous-auth=false. */
  readonly KEDGE_ANONYMOUS_AUTH?: string
  /** Static tokens: rows of `token,user,uid,"group,group"`, as in the file of --token-auth-file. */
  readonly KEDGE_TOKEN_AUTH_FILE?: string
  /**
   * What makes objects move (docs/workloads.md): `off` (default), `controllers`, or `simulated`: also a scheduler, and nodes
   * with the label kedge.dev/simulated=true.
   */
  readonly KEDGE_WORKLOADS?: string
  /** Images that simulated nodes cannot pull: `broken,registry.example.com/*`. */
  readonly KEDGE_MISSING_IMAGES?: string
  /** Which of its controllers, as kube-controller-manager's --controllers: `*,-cronjob-controller`. Default: all. */
  readonly KEDGE_CONTROLLERS?: string
  /**
   * A KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) in JSON, as kube-scheduler's --config: the profiles of the
   * scheduler (docs/workloads.md).
   */
  readonly KEDGE_SCHEDULER_CONFIG?: string
  /**
   * Who else is asked about tokens, in JSON: `{"connection": {"url": "https://…"}, "version": "v1", "cacheSeconds": 120}`.
   * A connection is what webhooks/connection.ts says.
   */
  readonly KEDGE_AUTHENTICATION_TOKEN_WEBHOOK?: string
  /** An AuthorizationConfiguration (apiserver.config.k8s.io/v1, v1beta1), in YAML or JSON. Default: Node, then RBAC. */
  readonly KEDGE_AUTHORIZATION_CONFIG?: string
  /** Connections of its webhooks, in JSON, by the paths that it gives for their kubeconfigs: `{"/PATH": {"url": …}}`. */
  readonly KEDGE_WEBHOOK_CONNECTIONS?: string
  /** UID of the root control plane: part of every shard name and cache key. Default `root`. */
  readonly KEDGE_ROOT_TENANT?: string
}
