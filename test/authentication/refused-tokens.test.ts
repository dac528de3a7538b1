import { expect, test } from 'vitest'
import { MOST_WAITING_FOR_KEYS } from '../../src/authentication/key-questions.ts'
import { MOST_LOOKUPS, lookUpOnce } from '../../src/authentication/refused-tokens.ts'
import { MOST_WAITING_FOR_WEBHOOK } from '../../src/authentication/token-webhook.ts'
import { TokenRefused } from '../../src/authentication/token-answer.ts'
import { authenticateToken } from '../../src/authentication/token-authenticator.ts'
import { collectionOf } from '../../src/storage/collections.ts'
import { noticingControlWrites } from '../../src/tenancy/control-snapshot.ts'
import { storageOf } from '../../src/storage/environment-storage.ts'
import { memoryServer } from '../request-in-memory.ts'

/** A server that counts how often storage is read. */
function countedServer() {
  const made = memoryServer()
  // reads go through the shards
  const server = Object.assign(made, { storage: storageOf(made.env) })
  const namespace = server.env.SHARDS as unknown as { get(name: string): { get(...call: unknown[]): Promise<unknown> } }
  const stubOf = namespace.get
  const waiting: (() => void)[] = []
  const state = { reads: 0, held: false }
  namespace.get = (name) => {
    const stub = stubOf(name)
    return {
      ...stub,
      async get(...call) {
        state.reads++
        if (state.held) await new Promise<void>((resolve) => waiting.push(resolve))
        return stub.get(...call)
      },
    }
  }
  const letGo = () => {
    state.held = false
    for (const go of waiting.splice(0)) go()
  }
  return { server, state, letGo }
}

const isNoRefusal = (error: unknown): error is Error => error === undefined

const TOKEN = 'abcdef.0123456789abcdef'
const data = (value: string) => btoa(value)

async function createToken({ storage, tenant }: ReturnType<typeof memoryServer>): Promise<void> {
  const head = '{"metadata":{"resourceVersion":"'
  const rest = JSON.stringify({
    type: 'bootstrap.kubernetes.io/token',
    data: {
      'token-id': data('abcdef'),
      'token-secret': data('0123456789abcdef'),
      'usage-bootstrap-authentication': data('true'),
    },
  })
  const value = { text: `${head}","uid":"u"},${rest.slice(1)}`, at: head.length, uid: 'u' }
  const secrets = collectionOf(tenant, { group: '', resource: 'secrets' })
  await noticingControlWrites(storage).create(secrets, 'kube-system/bootstrap-token-abcdef', value)
}

test('a token that was refused is looked up once a second', async () => {
  const { server, state } = countedServer()
  for (let n = 0; n < 50; n++) await expect(authenticateToken(server, TOKEN)).rejects.toBeInstanceOf(TokenRefused)
  expect(state.reads).toBe(1)
  server.now = new Date(server.now.getTime() + 1_001)
  await expect(authenticateToken(server, TOKEN)).rejects.toBeInstanceOf(TokenRefused)
  expect(state.reads).toBe(2)
})

test('a token that is created after it was refused is good at once', async () => {
  const { server } = countedServer()
  await expect(authenticateToken(server, TOKEN)).rejects.toBeInstanceOf(TokenRefused)
  await createToken(server)
  expect((await authenticateToken(server, TOKEN)).user.name).toBe('system:bootstrap:abcdef')
})

test('a check that waits for each place of other servers leaves room for the tokens of this one', async () => {
  const { server } = countedServer()
  await createToken(server)
  const never = () => new Promise<never>(() => {})
  const elsewhere = MOST_WAITING_FOR_KEYS + MOST_WAITING_FOR_WEBHOOK
  for (let n = 0; n < elsewhere; n++) void lookUpOnce(server, `elsewhere ${n}`, never, isNoRefusal).catch(() => {})
  expect((await authenticateToken(server, TOKEN)).user.name).toBe('system:bootstrap:abcdef')
})

test('of a thousand made-up tokens at once some are looked up, the others have to come back', async () => {
  const { server, state, letGo } = countedServer()
  state.held = true
  const token = (n: number) => `${String(n).padStart(6, '0')}.0123456789abcdef`
  const asked = Array.from({ length: 1_000 }, (_, n) =>
    authenticateToken(server, token(n)).catch((error: { code?: number }) => error.code ?? 'refused'),
  )
  await expect.poll(() => state.reads).toBe(MOST_LOOKUPS)
  letGo()
  const answers = await Promise.all(asked)
  expect(answers.filter((answer) => answer === 'refused')).toHaveLength(MOST_LOOKUPS)
  expect(answers.filter((answer) => answer === 429)).toHaveLength(1_000 - MOST_LOOKUPS)
  await expect(authenticateToken(server, TOKEN)).rejects.toBeInstanceOf(TokenRefused)
})
