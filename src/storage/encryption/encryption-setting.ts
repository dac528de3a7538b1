/** The encryption settings of a server. */
export interface EncryptionKey {
  /** Stored with each value that it seals. */
  readonly id: string
  /** 32 bytes. */
  readonly secret: Uint8Array<ArrayBuffer>
}

export interface EncryptionSetting {
  /** Seals new values; undefined: they are stored unsealed. */
  readonly sealing: EncryptionKey | undefined
  /** The keys that open values, by id. */
  readonly keys: readonly EncryptionKey[]
  /** Prefixes of the collections whose values are sealed: `secrets`, `things.example.com`. */
  readonly prefixes: ReadonlySet<string>
}
