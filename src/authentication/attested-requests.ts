/**
 * The entrypoint behind the local front's second socket, for requests with a statement of the front. Requests without
 * one come through the first socket, where the engine sets no `request.cf`, so no client can claim a certificate
 * there. Here a request needs a MAC by the front's key.
 */
import type { Clock } from '../base/clock.ts'
import { logError } from '../log/log.ts'
import type { Env } from '../env.ts'
import { fromBase64 } from '../x509/pem.ts'
import { targetOf } from '../request/target.ts'
import { settingsOf } from '../settings.ts'
import { STATEMENT_HOLDS_MS, certificateText, statedText } from './front-statement.ts'
import type { FrontStatement } from './front-statement.ts'

type Serve = (request: Request, env: Env, execution: ExecutionContext) => Promise<Response>

export function attestedRequests(serve: Serve, clock: Clock): Serve {
  const replays = new Replays()
  return async (request, env, execution) => {
    const statement = statementOf(request)
    const now = clock()
    if (statement === undefined || !(await isGenuine(request, statement, env, now))) return refused()
    if (!replays.isNew(statement, now)) return refused()
    return serve(request, env, execution)
  }
}

function statementOf({ cf }: Request): FrontStatement | undefined {
  // the front made the genuine statements; others fail the check of their MAC
  const statement = cf as Partial<FrontStatement> | undefined
  return typeof statement?.mac === 'string' ? (statement as FrontStatement) : undefined
}

async function isGenuine(request: Request, statement: FrontStatement, env: Env, now: number): Promise<boolean> {
  if (!(Math.abs(now - statement.made) <= STATEMENT_HOLDS_MS)) return false
  try {
    const { frontKey: key } = settingsOf(env)
    if (key === undefined) return false
    const certificate = certificateText(statement.tlsClientAuth)
    const text = statedText(request.method, targetOf(request), statement, certificate)
    return await crypto.subtle.verify('HMAC', await importedKey(key), fromBase64(statement.mac), encoder.encode(text))
  } catch {
    return false // the MAC is no base64, or the settings are invalid
  }
}

const encoder = new TextEncoder()

/** Imported once in the life of an isolate, because the setting does not change. */
let imported: { readonly base64: string; readonly key: CryptoKey } | undefined

async function importedKey(base64: string): Promise<CryptoKey> {
  if (imported?.base64 === base64) return imported.key
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', fromBase64(base64), algorithm, false, ['verify'])
  imported = { base64, key }
  return key
}

/** The most connections with a valid certificate in one period. Each costs the front a handshake. */
const MAX_CONNECTIONS = 20_000

/**
 * The number of the last request of each connection. The front numbers a connection's requests, so a statement whose
 * number is not higher is a replay. A connection is dropped two periods after its last request, when its statements
 * have expired. Each engine has a new key, so a new engine need not know earlier numbers.
 */
class Replays {
  #began = 0
  /** Bound: MAX_CONNECTIONS. */
  #recent = new Map<string, number>()
  /** Bound: MAX_CONNECTIONS. */
  #before = new Map<string, number>()

  /** Only statements with a certificate in force are checked and take room, because only those are worth a replay. */
  isNew({ connection, request, tlsClientAuth }: FrontStatement, now: number): boolean {
    if (tlsClientAuth?.certVerified !== 'SUCCESS') return true
    // the clock was set back
    if (now < this.#began) this.#began = now
    if (now - this.#began > 2 * STATEMENT_HOLDS_MS) {
      this.#before = now - this.#began > 4 * STATEMENT_HOLDS_MS ? new Map() : this.#recent
      this.#recent = new Map()
      this.#began = now
    }
    const last = this.#recent.get(connection) ?? this.#before.get(connection) ?? 0
    if (request <= last || (this.#recent.size >= MAX_CONNECTIONS && !this.#recent.has(connection))) return false
    this.#recent.set(connection, request)
    return true
  }
}

function refused(): Response {
  logError('a request without a valid statement of the front was refused')
  return new Response('400 Bad Request: no valid statement of the front', { status: 400 })
}
