// Definitions of well-known projects and rules of policy libraries on a running server: each answer is the one that
// kube-apiserver gives (test/fixtures/definitions, test/fixtures/policies). In memory test/endpoints does the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import type { JsonObject, KubeObject } from '../../src/api/object.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { LIBRARIES, casesOf, collectionOf, dryRun, manifestsOf, policyAnswer } from '../endpoints/policy-libraries.ts'
import { PROJECTS, projectOf } from '../endpoints/well-known-projects.ts'
import { ApiClient } from './api-client.ts'

let kedge: KedgeProcess
let client: ApiClient
beforeAll(async () => {
  kedge = await startKedge()
  client = new ApiClient(kedge.kubeconfig)
})
afterAll(async () => {
  client.close()
  await kedge.stop()
})

async function send(method: string, path: string, body?: object) {
  const response = await client.open(method, path, body)
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part as string
  const answer = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { message: text }
  const warnings = String(response.headers['warning'] ?? '')
  return { body: answer, answer: policyAnswer(response.statusCode ?? 0, answer, warnings) }
}

/** A definition is served, and the ServiceAccount of a namespace is there, a moment later. */
const answers = (code: number, ...request: Parameters<typeof send>) =>
  eventually(async () => expect((await send(...request)).answer).toMatchObject({ code }))

async function create(manifest: KubeObject): Promise<void> {
  await answers(201, 'POST', collectionOf(manifest), manifest)
  if (manifest.kind === 'Namespace')
    await answers(200, 'GET', `/api/v1/namespaces/${manifest.metadata.name}/serviceaccounts/default`)
}

describe.each(LIBRARIES)('policies of %s', (library) => {
  beforeAll(async () => {
    for (const manifest of manifestsOf(library)) await create(manifest)
    // a policy takes effect a moment after it is written: the last of them, too
    const last = casesOf(library).findLast(({ answer }) => answer.code >= 400 || answer.labels || answer.warnings)!
    await eventually(async () =>
      expect((await send(last.method, dryRun(last.path), last.object)).answer).toEqual(last.answer),
    )
  })

  test.each(casesOf(library))('$title', async ({ method, path, object, answer }) =>
    expect((await send(method, dryRun(path), object)).answer).toEqual(answer),
  )
})

describe.each(PROJECTS)('definitions of %s', (name) => {
  const { definitions, cases } = projectOf(name)
  beforeAll(async () => {
    for (const definition of definitions) await create(definition)
    for (const { path } of cases) await answers(200, 'GET', path)
  })

  test.each(cases.map((one, index) => ({ ...one, index })))('$index $title', async ({ path, object, answer }) => {
    const { code, message, causes } = (await send('POST', dryRun(path), object)).answer
    expect({ code, message, causes }).toEqual({ code: answer.code, message: answer.message, causes: answer.causes })
  })
})
