import { expect, it } from 'vitest'
import type { Namespace } from '../../../../src/api/core/v1.ts'
import { namespaces } from '../../../../src/registry/core/namespaces/namespaces.ts'
import type { StrategyContext } from '../../../../src/registry/strategy.ts'

it('says which finalizer is wrong only where they are taken off', async () => {
  const namespace: Namespace = { metadata: { name: 'a' }, spec: { finalizers: ['kubernetes', 'foo'] } }
  const context = {} as StrategyContext // the code under test ignores the context
  const fields = async (errors: ReturnType<NonNullable<typeof namespaces.validateUpdate>> | undefined) =>
    ((await errors) ?? []).map(({ field }) => field)
  const { validateUpdate } = namespaces.subresources!['finalize']!
  expect(await fields(validateUpdate?.(namespace, namespace, context))).toEqual(['spec.finalizers[1]'])
  expect(await fields(namespaces.validate?.(namespace, context))).toEqual(['spec.finalizers'])
})

it('gets its label after validation where its name is generated', async () => {
  const namespace: Namespace = { metadata: { name: 'A9bk6' } }
  const context = {} as StrategyContext // the code under test ignores the context
  await namespaces.prepareForCreate?.(namespace, context)
  const errors = await namespaces.validate?.(namespace, context)
  expect(errors?.map(({ field }) => field)).toEqual(['metadata.name'])
  namespaces.completeOnCreate?.(namespace, context)
  expect(namespace.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'A9bk6' })
})
