import { expect, test } from 'vitest'
import type { Service } from '../../../../src/api/core/v1.ts'
import { services } from '../../../../src/registry/core/services/services.ts'

test('a Service warns while it is being deleted, too', async () => {
  const service = {
    metadata: { name: 's', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/f'] },
    spec: { type: 'ClusterIP', externalName: 'a.example.com', ports: [{ port: 80 }] },
  } satisfies Service
  expect(await services.warningsOnUpdate!(service, service, {} as never)).toEqual([
    'spec.externalName is ignored when spec.type is not "ExternalName"',
  ])
})
