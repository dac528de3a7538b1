import { expect, test } from 'vitest'
import type { AdmissionPlugin, Attributes } from '../../src/admission/attributes.ts'
import { validateAdmission } from '../../src/admission/chain.ts'
import { forbidden } from '../../src/api/status.ts'
import { faultCounts } from '../../src/request/fault.ts'
import type { Undo } from '../../src/registry/write/undo.ts'
import { memoryServer } from '../request-in-memory.ts'

const RESOURCE = { group: '', version: 'v1', resource: 'configmaps' }

const attributes = (): Attributes => ({
  operation: 'CREATE',
  resource: RESOURCE,
  subresource: '',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  namespace: 'blue',
  name: 'a',
  options: {},
  dryRun: false,
  user: { name: 'u', uid: '', groups: [], extra: {} },
  request: memoryServer().request('/api/v1/namespaces/blue/configmaps', { method: 'POST' }),
})

const plugin = (name: string, validate: () => Promise<Undo | undefined>): AdmissionPlugin => ({
  name,
  handles: () => true,
  validate,
})
const taking = (name: string, undo: Undo): AdmissionPlugin => plugin(name, () => Promise.resolve(undo))

const refusing = plugin('Refusing', () => Promise.reject(forbidden(RESOURCE, 'a', 'it is not wanted')))
const lost = (): Promise<void> => Promise.reject(new Error('no storage'))

test('a refusal is the answer, and all charges are undone, also where one undo fails', async () => {
  const undone: string[] = []
  const noted = faultCounts.get('undo') ?? 0
  const remembering =
    (name: string): Undo =>
    () => {
      undone.push(name)
      return Promise.resolve()
    }
  const chain = [
    taking('One', remembering('One')),
    taking('Two', lost),
    taking('Three', remembering('Three')),
    refusing,
  ]
  await expect(validateAdmission(attributes(), chain)).rejects.toMatchObject({ code: 403 })
  expect(undone).toEqual(['One', 'Three'])
  expect(faultCounts.get('undo')).toBe(noted + 1)
})

test('the undo for a write that fails later does not throw, so the write keeps its error', async () => {
  const undo = await validateAdmission(attributes(), [taking('One', lost), taking('Two', () => Promise.resolve())])
  await expect(undo?.()).resolves.toBeUndefined()
})

test('a chain without charges returns no undo', async () => {
  expect(await validateAdmission(attributes(), [plugin('Asking', () => Promise.resolve(undefined))])).toBeUndefined()
})
