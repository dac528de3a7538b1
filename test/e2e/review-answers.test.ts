// Servers that review tokens and access answer in every way they can; what clients get was observed at kube-apiserver.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { accessAnswers, authorizationConfiguration, startReviewServer, tokenAnswers, wordOf } from './review-server.ts'

interface Observed {
  readonly tokens: Readonly<Record<string, { readonly answer: unknown; readonly asked: number }>>
  readonly access: Readonly<
    Record<string, { readonly status: number; readonly asked: number; readonly reason?: string }>
  >
}
const observed: Observed = JSON.parse(readFileSync(join(import.meta.dirname, 'review-answers.json'), 'utf8'))

/** Ours is stricter: a user has a name, no redirect is followed, and answers have 3 MiB at most. */
const refusedHere: ReadonlySet<string> = new Set([
  'a redirect by 302',
  'a redirect by 307',
  'a user of null',
  'an empty name',
  'more than 3 MiB',
  'no name',
  'no user',
])

const directory = mkdtempSync(join(tmpdir(), 'kedge-reviews-'))
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

let reviews: Awaited<ReturnType<typeof startReviewServer>>
let kedge: KedgeProcess
beforeAll(async () => {
  reviews = await startReviewServer()
  const kubeconfig = file('kubeconfig', reviews.kubeconfig)
  const flags = {
    '--port': '0',
    '--authentication-token-webhook-config-file': kubeconfig,
    '--authentication-token-webhook-version': 'v1',
    '--authorization-config': file('authorization.yaml', authorizationConfiguration(kubeconfig)),
    '--token-auth-file': file('tokens.csv', 'asker-token,asker,asker-uid\nadmin-token,admin,u,system:masters\n'),
  }
  kedge = await startKedge(['--ephemeral', ...Object.entries(flags).flat()])
})
afterAll(async () => {
  await kedge?.stop()
  reviews.close()
})

const send = (method: string, path: string, token: string, body?: object): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const sent = request(`${kedge.url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', reject).end(body && JSON.stringify(body))
  })

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
async function userOf(token: string): Promise<unknown> {
  const { status, text } = await send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', token, review)
  return status === 201 ? JSON.parse(text).status.userInfo : status
}

describe.concurrent('a TokenReview is answered with', () => {
  test.each(Object.keys(tokenAnswers))('%s', async (name) => {
    const { answer, asked } = observed.tokens[name]!
    const token = wordOf(name)
    const expected = name === 'extra of null' ? { ...(answer as object), extra: { a: [] } } : answer
    expect(await userOf(token)).toEqual(refusedHere.has(name) ? 401 : expected)
    expect(reviews.asked.get(token)).toBe(asked)
  })
})

describe.concurrent('a SubjectAccessReview is answered with', () => {
  // what failed is a failure whatever the policy: nobody else allows it
  test.each(Object.keys(accessAnswers).flatMap((name) => ['n', 'd'].map((policy) => [name, policy] as const)))(
    '%s (%s)',
    async (name, policy) => {
      const { status, asked, reason } = observed.access[name]!
      const namespace = `${policy}-${wordOf(name)}`
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      const answer = await send('GET', path, 'asker-token')
      expect(answer.status, answer.text).toBe(refusedHere.has(name) ? 500 : status)
      expect(reviews.asked.get(namespace)).toBe(asked)
      const cannot = `configmaps is forbidden: User "asker" cannot list resource "configmaps" in API group "" in the namespace "${namespace}"`
      if (answer.status === 403)
        expect(JSON.parse(answer.text).message).toBe(reason === undefined ? cannot : `${cannot}: ${reason}`)
    },
  )
})

test('what was asked is counted under kube-apiserver’s names', async () => {
  const { text } = await send('GET', '/metrics', 'admin-token')
  const value = (series: string): number =>
    Number(new RegExp(`^${series.replace(/[{}]/g, '\\$&')} (\\d+)`, 'm').exec(text)?.[1] ?? -1)
  const kinds = Object.values(observed.access).filter((_, at) => !refusedHere.has(Object.keys(observed.access)[at]!))
  const having = (status: number): number => kinds.filter((one) => one.status === status).length
  const authorization = (name: string): number => value(`apiserver_authorization_${name}`)
  expect({
    allowed: authorization('decisions_total{decision="allowed",name="noopinion",type="Webhook"}'),
    allowedWhereItFailsClosed: authorization('decisions_total{decision="allowed",name="deny",type="Webhook"}'),
    timeouts: authorization('webhook_evaluations_total{name="deny",result="timeout"}'),
    failOpenTimeouts: authorization('webhook_evaluations_fail_open_total{name="noopinion",result="timeout"}'),
    failOpenOfDeny: authorization('webhook_evaluations_fail_open_total{name="deny",result="error"}'),
  }).toEqual({
    allowed: having(200),
    allowedWhereItFailsClosed: having(200),
    timeouts: 1,
    failOpenTimeouts: 1,
    failOpenOfDeny: -1,
  })
  for (const name of [
    'apiserver_authorization_webhook_duration_seconds_count{name="noopinion",result="success"}',
    'apiserver_authorization_match_condition_evaluation_seconds_count{name="noopinion",type="Webhook"}',
    'apiserver_authorization_match_condition_exclusions_total{name="noopinion",type="Webhook"}',
    'authentication_attempts{result="error"}',
    'authentication_duration_seconds_count{result="success"}',
    'authorization_attempts_total{result="no-opinion"}',
    'authorization_attempts_total{result="denied"}',
    'authorization_attempts_total{result="error"}',
    'authorization_duration_seconds_count{result="allowed"}',
  ])
    expect(value(name), name).toBeGreaterThan(0)
})

test('a yes and a no are kept, and what failed is asked again', async () => {
  const asks = async (namespace: string): Promise<number> => {
    await send('GET', `/api/v1/namespaces/${namespace}/configmaps`, 'asker-token')
    return reviews.asked.get(namespace) ?? 0
  }
  const before = reviews.asked.get('n-503') ?? 0
  expect([await asks('n-good'), await asks('n-denied'), await asks('n-503')]).toEqual([1, 1, before + 1])
})
