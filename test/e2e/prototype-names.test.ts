// A client may use the names `constructor` and `__proto__`: the server treats them like any name of the same form.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../eventually.ts'
import { startKedge } from '../cli/kedge-process.ts'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { prototypeNames } from '../prototype-names.ts'
import { ApiClient } from './api-client.ts'
import {
  GROUP,
  customObjects,
  dataKeys,
  definition,
  definitions,
  objects,
  ordinaryFor,
  requests,
} from './prototype-requests.ts'
import type { Step } from './prototype-requests.ts'

let server: KedgeProcess
let client: ApiClient
const agent = new Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false })

beforeAll(async () => {
  server = await startKedge()
  client = new ApiClient(server.kubeconfig)
  const body = definition()
  const made = await send({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body,
    headers: { 'Content-Type': 'application/json' },
  })
  expect(made).toMatch(/^201 /)
  await until(async () => (await send({ method: 'GET', path: `${GROUP}/widgets` })).startsWith('200'))
})
afterAll(async () => {
  agent.destroy()
  client.close()
  await server.stop()
})

/** @returns the status, the relevant headers and the body as text, with one character for each byte */
function send({ method, path, headers = {}, body }: Step): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = { Authorization: `Bearer ${client.token}`, ...headers }
    const outgoing = request(server.url + path, { method, headers: all, agent }, async (response) => {
      let text = ''
      for await (const part of response.setEncoding('latin1')) text += part as string
      const { 'content-type': type = '', warning = '', allow = '' } = response.headers
      resolve(`${response.statusCode} ${type} ${warning} ${allow} ${text}`)
    })
    outgoing.on('error', reject).end(body)
  })
}

/** Sorts the managers: the server orders them by time, which differs between two runs. */
function withSortedManagers(answer: string): string {
  const start = answer.indexOf('{')
  if (!/^\d+ application\/json/.test(answer) || start < 0) return answer
  const sorted = JSON.parse(answer.slice(start), (key, value: unknown) =>
    key === 'managedFields' && Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
  ) as unknown
  return answer.slice(0, start) + JSON.stringify(sorted)
}

/** Replaces names, times and uids of an answer. In binary forms all times have the same length. */
function comparable(answer: string, names: readonly string[], namespace: string): string {
  let text = withSortedManagers(answer).replaceAll(namespace, 'NAMESPACE')
  for (const name of names) {
    text = text.replaceAll(name, 'NAME').replaceAll(name.toLowerCase(), 'NAME')
    text = text.replaceAll(Buffer.from(name).toString('base64').replace(/..=*$/, ''), 'NAME')
  }
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
    .replace(/\b\d{15,20}\b/g, 'VERSION')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replace(/(NAME|kube-api-access-)[a-z0-9]{5}\b/g, 'GENERATED')
    .replace(/\b\d+s\b/g, 'AGE')
    .replace(/"clusterIPs?":("[\d.]+"|\["[\d.]+"\])/g, 'IP')
    .replace(
      /^(\d+ application\/vnd\.kubernetes\.protobuf)[^]*$/,
      (whole, start) => `${start} of ${whole.length} bytes`,
    )
}

async function answerOf(step: Step): Promise<string> {
  const { until: text = '' } = step
  let answer = await send(step)
  if (answer.startsWith('200'))
    await until(async () => answer.includes(text) || (answer = await send(step)).includes(text))
  return answer
}

async function answers(steps: readonly Step[], names: readonly string[], namespace: string): Promise<string[]> {
  const list: string[] = []
  for (const step of steps) {
    const answer = comparable(await answerOf(step), names, namespace)
    list.push(
      comparable(
        `${step.method} ${step.path} ${JSON.stringify(step.headers ?? {})} ${typeof step.body === 'string' ? step.body : (step.body?.length ?? '')}`,
        names,
        namespace,
      ) + `\n→ ${answer}`,
    )
  }
  return list
}

/** All names but `name`: it is a field of ObjectMeta, and the ordinary name of its form is none. */
const tried = prototypeNames.filter((name) => name !== 'name')
const stories = { dataKeys, objects, requests, customObjects, definitions }

test.each(tried.flatMap((name) => Object.keys(stories).map((story) => [name, story as keyof typeof stories] as const)))(
  '%s in %s',
  async (name, story) => {
    const names = [name, ordinaryFor(name)]
    const id = randomUUID().slice(0, 8)
    const run = async (of: string, namespace: string) => {
      await client.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
      const serviceAccount = `/api/v1/namespaces/${namespace}/serviceaccounts/default`
      await until(async () => (await client.send('GET', serviceAccount)).status === 200)
      return answers(stories[story](namespace, of), names, namespace)
    }
    const [found, ordinary] = await Promise.all([run(name, `p-${id}`), run(ordinaryFor(name), `o-${id}`)])
    for (const [index, answer] of found.entries()) expect.soft(answer).toBe(ordinary[index])
    expect(found.filter((answer) => / 50\d /.test(answer.split('\n→')[1]!))).toEqual([])
  },
)
