/**
 * Two names of one field, of which a client sends one. kube-apiserver joins them before it looks who changed what, so
 * that the client owns both, or nothing where its value does not count.
 */
import { expect, test } from 'vitest'
import { answer } from '../../../src/server.ts'
import { memoryServer } from '../../request-in-memory.ts'

const TOKEN = 'a-token-of-thirty-two-characters'
const PODS = '/api/v1/namespaces/default/pods'
const MERGE = 'application/merge-patch+json'

interface Answer {
  readonly metadata: { readonly managedFields?: readonly { readonly manager: string; readonly fieldsV1: object }[] }
  readonly spec: { readonly podCIDR?: string; readonly podCIDRs?: string[] }
  readonly status: { readonly podIP?: string; readonly podIPs?: object[] }
}

function cluster() {
  const server = memoryServer({ KEDGE_ADMIN_TOKEN: TOKEN })
  return async (method: string, path: string, body: object, type = 'application/json') => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': type }
    const response = await answer(server.request(path, { method, headers, body: JSON.stringify(body) }))
    return (await response.json()) as Answer
  }
}

const owned = ({ metadata: { managedFields = [] } }: Answer, manager: string) =>
  managedFields.find((entry) => entry.manager === manager)?.fieldsV1

const RANGE = '10.2.3.0/24'

test.each([[{ podCIDR: RANGE }], [{ podCIDRs: [RANGE] }]])('a Node with %o', async (spec) => {
  const node = await cluster()('POST', '/api/v1/nodes?fieldManager=m', { metadata: { name: 'n' }, spec })
  expect(node.spec).toMatchObject({ podCIDR: RANGE, podCIDRs: [RANGE] })
  const range = `v:"${RANGE}"`
  expect(owned(node, 'm')).toEqual({ 'f:spec': { 'f:podCIDR': {}, 'f:podCIDRs': { '.': {}, [range]: {} } } })
})

test('the address of a Pod', async () => {
  const send = cluster()
  const container = { name: 'c', image: 'i' }
  await send('POST', PODS, { metadata: { name: 'p' }, spec: { containers: [container] } })
  const report = (manager: string, status: object) =>
    send('PATCH', `${PODS}/p/status?fieldManager=${manager}`, { status }, MERGE)
  const joined = { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }] }

  const first = await report('a', { podIP: '1.2.3.4' })
  expect(first.status).toMatchObject(joined)
  expect(owned(first, 'a')).toEqual({
    'f:status': { 'f:podIP': {}, 'f:podIPs': { '.': {}, 'k:{"ip":"1.2.3.4"}': { '.': {}, 'f:ip': {} } } },
  })

  // podIP counts, so that this changes nothing
  const other = await report('b', { podIPs: [{ ip: '1.2.3.5' }] })
  expect(other.status).toMatchObject(joined)
  expect(owned(other, 'b')).toBeUndefined()
})
