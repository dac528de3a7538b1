import { expect, test } from 'vitest'
import { resourceScope } from '../../../src/registry/scope.ts'
import { servedResources } from '../../../src/registry/served/served.ts'
import { withoutAdmission } from '../../../src/registry/write/admission.ts'
import { patch } from '../../../src/registry/write/patch.ts'
import { tooManyRequests } from '../../../src/api/status.ts'
import { memoryServer } from '../../request-in-memory.ts'

const DEPLOYMENT = {
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'a', namespace: 'blue', uid: 'u' },
  spec: { replicas: 1, template: {} },
}

type TakeRoom = (value: string, size: number) => Promise<void>

/** Patches a Deployment, or its scale, so that a list in it doubles so many times. */
const doubling = (times: number, subresource: string, takeRoom: TakeRoom) =>
  patching(subresource, takeRoom, [
    { op: 'add', path: '/free', value: ['x'] },
    ...Array.from({ length: times }, () => ({ op: 'copy', from: '/free', path: '/free/-' })),
  ])

async function patching(subresource: string, takeRoom: TakeRoom, operations: readonly object[], stored = DEPLOYMENT) {
  const server = memoryServer()
  await server.put('apps', 'deployments', stored)
  const request = Object.assign(server.request('/apis/apps/v1/namespaces/blue/deployments/a'), { takeRoom })
  const entry = (await servedResources(request)).find('apps', 'v1', 'deployments')!
  const scope = resourceScope(request, entry, { name: 'a', subresource, namespace: 'blue' })
  const bytes = new TextEncoder().encode(JSON.stringify(operations))
  const options = { dryRun: true, force: undefined, fieldManager: 'm', fieldValidation: 'Ignore' } as const
  const body = { type: 'application/json-patch+json', bytes, mayCreate: false } as const
  const patched = await patch(scope, body, options, withoutAdmission).catch((error: unknown) => error)
  return { patched, isLarge: request.isLarge }
}

test.each([[''], ['scale']])(
  'what a small JSON patch makes of copies needs room as a large one does: "%s"',
  async (sub) => {
    const taken: unknown[] = []
    const take = async (...what: unknown[]) => void taken.push(what)
    expect((await doubling(3, sub, take)).isLarge).toBeUndefined()
    expect(taken).toEqual([])
    expect((await doubling(17, sub, take)).isLarge).toBe(true)
    expect(taken).toEqual([['others', expect.any(Number)]])
    expect(taken).toMatchObject([{ 1: expect.toSatisfy((size: number) => size > 500_000) }])
  },
)

test('a patch that finds no room for its copies is refused', async () => {
  const full = async () => {
    throw tooManyRequests('full', 1)
  }
  expect((await doubling(17, '', full)).patched).toMatchObject({ code: 429 })
})

const none = async () => {}
const containers = Array<object>(3_000).fill({})

test('a small body that makes many values, and a small object that has them, take turns', async () => {
  const make = { op: 'add', path: '/spec/template', value: { spec: { containers } } }
  const change = { op: 'add', path: '/spec/replicas', value: 2 }
  const dense = { ...DEPLOYMENT, spec: { replicas: 1, template: { spec: { containers } } } }
  expect((await patching('', none, [make])).isLarge).toBe(true)
  expect((await patching('', none, [change])).isLarge).toBeUndefined()
  expect((await patching('', none, [change], dense)).isLarge).toBe(true)
})
