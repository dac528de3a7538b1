// The generated tables come from answers of a running kube-apiserver. Kedge gives the same answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { KedgeProcess } from '../cli/kedge-process.ts'
import { startKedge } from '../cli/kedge-process.ts'
import { ApiClient } from './api-client.ts'

// written in JavaScript, since they run without a build
const source = join(import.meta.dirname, '../../src')
const { observed } = await import(join(source, 'schema/facts/observe.mjs'))
const { columnsTable } = await import(join(source, 'schema/generate-defaults.mjs'))
const { bootstrapTable } = await import(join(source, 'bootstrap/generate-bootstrap.mjs'))
const { textsTable } = await import(join(source, 'openapi/generate-texts.mjs'))

const started: KedgeProcess[] = []
afterAll(() => Promise.all(started.map((kedge) => kedge.stop())))

async function server(...flags: readonly string[]) {
  const kedge = await startKedge(['--ephemeral', '--port', '0', ...flags])
  started.push(kedge)
  const api = new ApiClient(kedge.kubeconfig)
  return async (path: string, accept = 'application/json') => {
    const { status, body } = await api.send('GET', path, undefined, { Accept: accept })
    expect([path, status]).toEqual([path, 200])
    return body
  }
}

test('tables made from this server are those made from kube-apiserver', async () => {
  const everything = ['--runtime-config', 'api/all=true']
  const gates = ['--feature-gates', 'AllAlpha=true,AllBeta=true,CBORServingAndStorage=false']
  const files = await observed(await server(), await server(...everything, ...gates))
  const committed = (path: string) => readFileSync(join(source, path), 'utf8')
  expect(columnsTable(files['columns.json'])).toBe(committed('codec/table/columns-table.json'))
  expect(bootstrapTable(files['bootstrap.json'])).toBe(committed('bootstrap/bootstrap-table.json'))
  const texts = textsTable(files['openapi-v3.json'], files['openapi-v3-all.json'])
  expect(texts).toBe(committed('openapi/texts-table.json'))
})
