// Definitions of projects that many clusters have, with their rules, and objects that they take or refuse: each answer is
// the one that kube-apiserver gives (test/fixtures/definitions).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { platformClock } from '../../src/api/clock.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import type { Env } from '../../src/env.ts'
import { DEFINITIONS } from '../../src/registry/custom-resources/definition.ts'
import { serve } from '../../src/server.ts'
import { ControlPlaneInMemory } from '../controllers/control-plane.ts'

interface Case {
  readonly title: string
  readonly path: string
  readonly object: JsonObject
  readonly answer: {
    readonly code: number
    readonly message?: string
    readonly causes?: readonly object[]
    /** Where it is another one than that of the object: defaults were filled in. */
    readonly spec?: JsonObject
  }
}

interface Project {
  readonly definitions: readonly JsonObject[]
  readonly cases: readonly Case[]
}

const projectOf = (name: string): Project =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../fixtures/definitions/${name}.json`), 'utf8')) as Project

const TOKEN = 't'.repeat(32)

describe.each(['gateway-api', 'cert-manager', 'crossplane', 'cluster-api'])('%s', (name) => {
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
