/** The encryption settings of a server. */
export interface EncryptionKey {
  /** Stored with each value that was sealed with it. */
  readonly id: string
  /** 32 bytes. */
  readonly secret: Uint8Array<ArrayBuffer>
}

export interface EncryptionSetting {
  /** The first one seals; undefined: new values are stored in the open. */
  readonly sealing: EncryptionKey | undefined
  /** All open, by id. */
  readonly keys: readonly EncryptionKey[]
  /** Collections whose values are sealed, by their prefix: `secrets`, `things.example.com`. */
  readonly prefixes: ReadonlySet<string>
}
