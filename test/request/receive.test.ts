import { expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import { presentedCertificate } from '../../src/authentication/client-certificate.ts'
import type { Env } from '../../src/env.ts'
import { receive } from '../../src/request/receive.ts'

const execution = {} as ExecutionContext
const LOCAL = { KEDGE_FRONT_KEY: Buffer.alloc(32).toString('base64') } as Env
const CLOUDFLARE = {} as Env

/** Whether the server trusts the client certificate and the method in the `cf` of a POST. */
function believed(env: Env, isAttested: boolean): [certificate: boolean, method: string] {
  const cf = { tlsClientAuth: { certPresented: '1' }, method: 'FOO' }
  const request = Object.assign(new Request('http://h/version', { method: 'POST' }), { cf })
  const received = receive(request, env, execution, platformClock, () => false, isAttested)
  if (received instanceof Response) throw new Error('refused')
  return [presentedCertificate(received) !== undefined, received.method]
}

test('behind the local front only a statement says something of a request', () => {
  expect(believed(LOCAL, true)).toEqual([true, 'FOO'])
  expect(believed(LOCAL, false)).toEqual([false, 'POST'])
})

test('on Cloudflare the platform itself says it', () => {
  expect(believed(CLOUDFLARE, false)).toEqual([true, 'FOO'])
})
