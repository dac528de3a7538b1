// kubectl applies two whole applications and reads them back.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { loadAll } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { kubectlServerUnderTest } from './kubectl-server.ts'

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly stringData?: Readonly<Record<string, string>>
}

const kubectl = kubectlServerUnderTest()

describe.each(['shop', 'visitors-book'])('%s', (application) => {
  // a command is split at blanks, and the folder of the project may have some
  const file = relative(process.cwd(), join(import.meta.dirname, 'applications', `${application}.yaml`))
  // Each document of these files is a manifest.
  const manifests = (loadAll(readFileSync(file, 'utf8')) as (Manifest | null)[]).filter((manifest) => manifest !== null)

  test('is created, object by object', async () => {
    await kubectl.run(`create namespace ${application}`)
    kubectl.namespace = application
    const lines = (await kubectl.run(`apply -f ${file}`)).trimEnd().split('\n')
    expect(lines).toHaveLength(manifests.length)
    expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([])
  })

  test('reads back with every field that was written', async () => {
    const { items } = await kubectl.json<{ items: unknown[] }>(`get -f ${file}`)
    expect(items).toHaveLength(manifests.length)
    for (const [index, manifest] of manifests.entries()) {
      const { stringData, ...written } = manifest
      const data = Object.fromEntries(
        Object.entries(stringData ?? {}).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      )
      expect(items[index]).toMatchObject({ ...written, ...(stringData && { data }) })
      expect(items[index]).toMatchObject({
        metadata: { namespace: application, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      })
    }
  })

  test('does not change when kubectl applies it again, also with server-side apply', async () => {
    const again = (await kubectl.run(`apply -f ${file}`)).trimEnd().split('\n')
    // kubectl always sends fields that no read returns (a Secret's stringData), and fields with the patch strategy
    // replace (a PodDisruptionBudget's selector).
    const sent = /^(secret|poddisruptionbudget\.policy)\//
    expect(again.filter((line) => !line.endsWith(' unchanged') && !sent.test(line))).toEqual([])
    await kubectl.run(`apply --server-side --force-conflicts -f ${file}`)
    expect((await kubectl.try(['diff', '-f', file])).code).toBe(0)
  })

  test('goes with its namespace', async () => {
    kubectl.namespace = undefined
    await kubectl.run(`delete namespace ${application} --timeout=180s`)
    expect(await kubectl.run(`get deployments,services,serviceaccounts -n ${application} -o name`)).toBe('')
  })
})
