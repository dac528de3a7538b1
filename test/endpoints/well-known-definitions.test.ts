// CRDs of projects that many clusters install, with their rules, and objects that these accept or refuse. Each answer
// equals the one of kube-apiserver (test/fixtures/definitions).
import { beforeAll, describe, expect, test } from 'vitest'
import { platformClock } from '../../src/base/clock.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import type { Env } from '../../src/env.ts'
import { DEFINITIONS } from '../../src/registry/custom-resources/definition.ts'
import { serve } from '../../src/server.ts'
import { ControlPlaneInMemory } from '../controllers/control-plane.ts'
import { PROJECTS, projectOf } from './well-known-projects.ts'

const TOKEN = 't'.repeat(32)

describe.each(PROJECTS)('%s', (name) => {
  const { definitions, cases } = projectOf(name)
  const plane = new ControlPlaneInMemory()
  const env: Env = { ...plane.server.env, KEDGE_ADMIN_TOKEN: TOKEN, KEDGE_ROOT_TENANT: plane.server.tenant.uid }
  const execution = { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext

  const post = (path: string, body: object) =>
    serve(
      new Request(`https://server${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
      env,
      execution,
      platformClock,
    )

  beforeAll(async () => {
    await plane.context()
    for (const definition of definitions) {
      const { group, resource } = DEFINITIONS
      const created = await post(`/apis/${group}/v1/${resource}`, definition)
      expect({ status: created.status, text: created.ok || (await created.text()) }).toEqual({
        status: 201,
        text: true,
      })
    }
    await plane.settle()
  })

  test.each(cases.map((one, index) => ({ ...one, index })))('$index $title', async ({ path, object, answer }) => {
    const response = await post(`${path}?dryRun=All&fieldValidation=Strict`, object)
    const body = (await response.json()) as KubeObject & {
      readonly message?: string
      readonly details?: { readonly causes?: object[] }
      readonly spec?: JsonObject
    }
    if (answer.code === 201) {
      expect(body.message).toBeUndefined()
      expect(body.spec).toEqual(answer.spec ?? object['spec'])
    } else
      expect({ message: body.message, causes: body.details?.causes }).toEqual({
        causes: undefined,
        ...answer,
        code: undefined,
      })
    expect(response.status).toBe(answer.code)
  })
})
