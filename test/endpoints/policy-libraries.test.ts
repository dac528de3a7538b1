// Admission policies with rules of the Kyverno and Gatekeeper libraries, and objects that they admit, change or refuse.
// Each answer equals the one of kube-apiserver (test/fixtures/policies).
import { beforeAll, describe, expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import type { JsonObject } from '../../src/api/object.ts'
import type { Env } from '../../src/env.ts'
import { serve } from '../../src/server.ts'
import { ControlPlaneInMemory } from '../controllers/control-plane.ts'
import { LIBRARIES, casesOf, collectionOf, dryRun, manifestsOf, policyAnswer } from './policy-libraries.ts'

const TOKEN = 't'.repeat(32)

describe.each(LIBRARIES)('%s', (library) => {
  const plane = new ControlPlaneInMemory()
  const env: Env = { ...plane.server.env, KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_ROOT_TENANT: plane.server.tenant.uid }
  const execution = { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext

  const send = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' }
    const request = new Request(`https://server${path}`, { method, headers, body: JSON.stringify(body) })
    const response = await serve(request, env, execution, platformClock)
    const warnings = response.headers.get('Warning') ?? ''
    return policyAnswer(response.status, (await response.json()) as JsonObject, warnings)
  }

  beforeAll(async () => {
    await plane.context()
    for (const manifest of manifestsOf(library)) {
      expect(await send('POST', collectionOf(manifest), manifest)).toEqual({ code: 201 })
      if (manifest.kind === 'Namespace' || manifest.kind === 'CustomResourceDefinition') await plane.settle()
    }
  })

  test.each(casesOf(library))('$title', async ({ method, path, object, answer }) =>
    expect(await send(method, dryRun(path), object)).toEqual(answer),
  )
})
