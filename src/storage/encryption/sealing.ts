/**
 * Encrypts values at rest. The Worker seals the text of an object with AES-256-GCM. The shard stores an envelope that
 * names the key, with the object's uid and revision unsealed, because the shard needs them. Tenant, collection and
 * key of the object are authenticated, so a value that was moved does not open.
 */
import { base64ToBytes, bytesToBase64 } from '../../base/base64.ts'
import type { EncryptionKey, EncryptionSetting } from './encryption-setting.ts'
import type { Collection, NewValue, Revision } from '../storage.ts'
import { StorageError } from '../errors.ts'
import { isTooLarge, MAX_VALUE_BYTES, withRevision } from '../streams/value-text.ts'

/** The start of an envelope. No object of the API begins so: its first member is kind or apiVersion. */
export const SEALED = '{"kedge.dev/sealed":"'

const IV_LENGTH = 12
const ENVELOPE =
  /^\{"kedge\.dev\/sealed":"([A-Za-z0-9._-]+)","key":("(?:[^"\\]|\\.)*"),"data":"([A-Za-z0-9+/=]+)","metadata":\{"uid":"[^"\\]*","resourceVersion":"(\d*)"\}\}$/

/** Opens and seals the values of all tenants. It holds keys, and no values. */
export class Sealer {
  /** Bound: the keys of the setting. */
  private readonly imported = new Map<string, CryptoKey>()

  constructor(private readonly setting: EncryptionSetting) {}

  handles({ prefix }: Collection): boolean {
    return this.setting.prefixes.has(prefix)
  }

  async seal(collection: Collection, key: string, value: NewValue): Promise<NewValue> {
    const { sealing } = this.setting
    if (sealing === undefined || !this.handles(collection)) return value
    const iv = crypto.getRandomValues(new Uint8Array(IV_LENGTH))
    // the limit is that of the plain text, sealed or not
    if (isTooLarge(value.text)) throw new StorageError('TooLarge', 0, MAX_VALUE_BYTES)
    const plain = await packed(value)
    const additionalData = additionalDataOf(collection, key)
    const sealed = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv, additionalData },
      await this.import(sealing),
      plain,
    )
    const bytes = new Uint8Array(IV_LENGTH + sealed.byteLength)
    bytes.set(iv)
    bytes.set(new Uint8Array(sealed), IV_LENGTH)
    const head = `${SEALED}${sealing.id}","key":${JSON.stringify(key)},"data":"${bytesToBase64(bytes)}","metadata":{"uid":${JSON.stringify(value.uid)},"resourceVersion":"`
    return { ...value, text: `${head}"}}`, at: head.length }
  }

  /** Whether a write now would store the value in another form. */
  isStale(collection: Collection, text: string): boolean {
    const { sealing } = this.setting
    if (!this.handles(collection)) return false
    return sealing === undefined ? text.startsWith(SEALED) : !text.startsWith(`${SEALED}${sealing.id}"`)
  }

  /**
   * @param text as stored, sealed or not
   * @param asked the object's key where one object was asked for
   * @throws StorageError Sealed
   */
  async open(collection: Collection, text: string, asked?: string): Promise<string> {
    if (!text.startsWith(SEALED)) return text
    const parts = ENVELOPE.exec(text)
    if (parts === null) throw unreadable(collection, asked, 'its envelope is damaged')
    const [, id = '', quotedKey = '', data = '', revision = ''] = parts
    // the pattern matches a JSON string
    const key = JSON.parse(quotedKey) as string
    if (asked !== undefined && asked !== key) throw unreadable(collection, asked, `it is that of ${key}`)
    const known = this.setting.keys.find((one) => one.id === id)
    if (known === undefined) throw unreadable(collection, key, `the server has no encryption key ${JSON.stringify(id)}`)
    return opened(await this.decrypted(known, collection, key, data), revision)
  }

  private async decrypted(known: EncryptionKey, collection: Collection, key: string, data: string): Promise<string> {
    try {
      const bytes = base64ToBytes(data)
      const plain = await crypto.subtle.decrypt(
        { name: 'AES-GCM', iv: bytes.subarray(0, IV_LENGTH), additionalData: additionalDataOf(collection, key) },
        await this.import(known),
        bytes.subarray(IV_LENGTH),
      )
      return await unpacked(new Uint8Array(plain))
    } catch {
      // WebCrypto gives no reason, and an attacker who changed the value must not learn one
      throw unreadable(collection, key, `encryption key ${JSON.stringify(known.id)} does not open it`)
    }
  }

  private async import({ id, secret }: EncryptionKey): Promise<CryptoKey> {
    const known = this.imported.get(id)
    if (known !== undefined) return known
    const key = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
    this.imported.set(id, key)
    return key
  }
}

const additionalDataOf = ({ tenant, prefix }: Collection, key: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new TextEncoder().encode(JSON.stringify([tenant, prefix, key])))

/** Characters from which on a text is compressed, so that its envelope fits a row. */
const LONG = 1024 * 1024
/** The first byte of a sealed value says how its text is encoded. */
const PLAIN = 0
const COMPRESSED = 1

async function packed({ at, text }: NewValue): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(`${at}:${text}`)
  if (bytes.length < LONG) return withFirst(PLAIN, bytes)
  return withFirst(COMPRESSED, await through(new Uint8Array(bytes), new CompressionStream('gzip')))
}

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const content = bytes.subarray(1)
  return new TextDecoder().decode(
    bytes[0] === COMPRESSED ? await through(content, new DecompressionStream('gzip')) : content,
  )
}

const through = async (
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())

function withFirst(first: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes.length + 1)
  all[0] = first
  all.set(bytes, 1)
  return all
}

/** @param plain `AT:TEXT`, as it was sealed */
function opened(plain: string, revision: string): string {
  const colon = plain.indexOf(':')
  const text = plain.slice(colon + 1)
  return revision === '' ? text : withRevision(text, Number(plain.slice(0, colon)), Number(revision) as Revision)
}

const unreadable = ({ prefix }: Collection, key: string | undefined, why: string): StorageError =>
  new StorageError('Sealed', 0, 0, `${prefix}${key === undefined ? '' : `/${key}`}: ${why}`)
