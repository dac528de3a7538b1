import { expect, test } from 'vitest'
import { pathAttributes } from '../../src/authorization/attributes.ts'
import { authorize, verdictOn } from '../../src/authorization/authorize.ts'
import { assertPrivileged } from '../../src/authorization/privileged-paths.ts'
import { authenticated } from '../../src/request/user-info.ts'
import { memoryServer } from '../request-in-memory.ts'

const scraper = authenticated({ name: 'scraper' })
const master = authenticated({ name: 'root', groups: ['system:masters'] })

/** A server where the scraper has every verb on every path. */
async function withScraper() {
  const server = memoryServer()
  await server.put('rbac.authorization.k8s.io', 'clusterroles', {
    metadata: { name: 'all-paths' },
    rules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  })
  await server.put('rbac.authorization.k8s.io', 'clusterrolebindings', {
    metadata: { name: 'all-paths' },
    roleRef: { kind: 'ClusterRole', name: 'all-paths' },
    subjects: [{ kind: 'User', name: 'scraper' }],
  })
  return server
}

test.each([
  ['get', '/backup'],
  ['post', '/restore'],
  ['get', '/debug/shards'],
])('nonResourceURLs do not grant %s %s', async (verb, path) => {
  const server = await withScraper()
  const asked = pathAttributes(scraper, verb, path)
  await expect(authorize(server, asked)).rejects.toMatchObject({
    status: { code: 403, message: `forbidden: User "scraper" cannot ${verb} path "${path}"` },
  })
  // a SubjectAccessReview says the same
  expect(await verdictOn(server, asked)).toEqual({ allowed: false, reason: '' })
  await expect(authorize(server, pathAttributes(master, verb, path))).resolves.toMatchObject({ path })
})

test.each(['/metrics', '/debug/pprof', '/debug/flags/v', '/flagz'])(
  'they do grant %s, as of kube-apiserver',
  async (path) => {
    await expect(authorize(await withScraper(), pathAttributes(scraper, 'get', path))).resolves.toMatchObject({ path })
  },
)

test('the handler checks again', () => {
  expect(() => assertPrivileged(scraper)).toThrow('assertion failed: scraper reached a privileged path')
  expect(() => assertPrivileged(master)).not.toThrow()
})
