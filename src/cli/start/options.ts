/** What `kedge start` is asked for. The flags make it (src/cli/flags). */
import type { Credential } from '../data-directory/certificate.ts'
import type { AuditLogOptions } from '../engine/audit-log.ts'
import type { ConfigurationFiles } from '../engine/configuration-files.ts'
import type { PassedOn } from '../flags/passed-on.ts'
import type { Texts } from '../front/followed-files.ts'
import type { SimulatedNodes } from '../commands/simulated-cluster.ts'

export interface StartOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly dataDir: string
  /** Uses a temporary directory, and removes it at the end. */
  readonly ephemeral: boolean
  /** Further DNS names and addresses for the server's certificate. */
  readonly names: readonly string[]
  /** Settings that flags pass on (flags/passed-on.ts). */
  readonly passedOn?: PassedOn
  /** As KEDGE_ENCRYPTION_KEYS. */
  readonly encryptionKeys?: string
  readonly audit?: AuditOptions
  /** KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS, KEDGE_ADMISSION_CONFIG. */
  readonly admission?: Readonly<Record<string, string>>
  /** The most requests at a time on one connection in HTTP/2; 0: HTTP/1.1 only. */
  readonly http2Streams?: number | undefined
  /** KEDGE_CLIENT_CA: PEM. */
  readonly clientAuthorities?: string
  /** Where they come from, and where they are renewed. */
  readonly clientAuthoritiesFile?: string
  /** Takes the place of the data directory's certificate. */
  readonly server?: Credential
  /** Where that one comes from, and where it is renewed. */
  readonly serverFiles?: Texts<keyof Credential>
  /** KEDGE_KUBELET_CA. */
  readonly kubeletAuthority?: string
  /** Options of authentication and authorization. */
  readonly identity?: IdentityOptions
  /** KEDGE_ISSUER, KEDGE_SA_*. */
  readonly serviceAccounts?: Readonly<Record<string, string>>
  /** KEDGE_WORKLOADS. */
  readonly workloads?: string
  /** KEDGE_SCHEDULER_CONFIG. */
  readonly schedulerConfig?: string
  /** Simulated nodes to create where they are missing. */
  readonly simulatedNodes?: SimulatedNodes
}

export interface AuditOptions {
  /** KEDGE_AUDIT_*. */
  readonly settings: Readonly<Record<string, string>>
  readonly log: AuditLogOptions | undefined
}

export interface IdentityOptions {
  /** KEDGE_AUTHENTICATION_* and their like. */
  readonly settings: Readonly<Record<string, string>>
  /** Files of configurations that may change while the server runs. */
  readonly files: ConfigurationFiles
}

/** Why the server cannot start, for the user of the command. */
export class CannotStart extends Error {}
