// The front's statements about clients, for connections with a client certificate, and for requests whose method the
// engine cannot carry.
import { createHmac, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { FRONT_STATEMENT, certificateText, statedText } from '../../authentication/front-statement.ts'
import type { Stated } from '../../authentication/front-statement.ts'
import type { TlsClientAuth } from './client-certificate.ts'

/** Makes the statements of one connection. Their constant part is written once. */
export class Attestation {
  /** The start of the header, in ASCII: base64, OpenSSL's codes, the token of a method. */
  readonly #begin: string
  readonly #certificateText: string
  readonly #connection = randomBytes(16).toString('base64url')
  #requests = 0

  readonly #address: string | undefined

  /** @param address undefined where it is unknown */
  constructor(certificate: TlsClientAuth | undefined, address?: string) {
    this.#address = address
    const stated = certificate === undefined ? '' : `"tlsClientAuth":${JSON.stringify(certificate)},`
    this.#begin = `${FRONT_STATEMENT}: {${stated}`
    this.#certificateText = certificateText(certificate)
  }

  /**
   * The header line of the next request.
   * @param key a KeyObject, because Node would make a new one for each MAC, which costs more than the MAC
   * @param carried the method that the engine gets
   */
  line(key: KeyObject, method: string, carried: string, target: string, now = Date.now()): string {
    const stated: Stated = {
      ...(method !== carried && { method }),
      ...(this.#address !== undefined && { clientAddress: this.#address }),
      connection: this.#connection,
      request: ++this.#requests,
      made: now,
    }
    const text = statedText(carried, target, stated, this.#certificateText)
    const mac = createHmac('sha256', key).update(text, 'latin1').digest('base64')
    return `${this.#begin}"mac":"${mac}",${JSON.stringify(stated).slice(1)}\r\n`
  }
}
