// `npm run facts -- --release 1.37` makes the facts about the built-in types of a Kubernetes release from its published
// Go modules, for `npm run generate`. It needs Go, which downloads the modules. docs/releases.md describes the next
// steps.
//
//   node src/schema/facts/facts.mjs --release 1.37[.1] [--out DIR] [--server URL --everything URL]
//
// With two running kube-apiservers of the release behind `kubectl proxy`, it also makes the facts of observe.mjs.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { featureGatesOf } from './feature-gates.mjs'
import { readGoPackage, resolveConstants } from './go-package.mjs'
import { typesOf } from './go-types.mjs'
import { observed } from './observe.mjs'
import { resourcesOf } from './resources.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const { values: options } = parseArgs({
  options: {
    release: { type: 'string' },
    out: { type: 'string' },
    server: { type: 'string' },
    everything: { type: 'string' },
  },
})
if ((options.server === undefined) !== (options.everything === undefined)) {
  console.error('facts: --server and --everything go together')
  process.exit(2)
}
if (!/^1\.\d+(\.\d+)?$/.test(options.release ?? '')) {
  console.error('facts: which release? npm run facts -- --release 1.37')
  process.exit(2)
}

const MODULES = [
  'kubernetes',
  'api',
  'apimachinery',
  'apiextensions-apiserver',
  'kube-aggregator',
  'apiserver',
  'client-go',
  'component-base',
  'controller-manager',
]
/** Packages with types, in addition to those of k8s.io/api. */
const PACKAGES = [
  'k8s.io/apimachinery/pkg/api/resource',
  'k8s.io/apimachinery/pkg/apis/meta/v1',
  'k8s.io/apimachinery/pkg/apis/meta/v1beta1',
  'k8s.io/apimachinery/pkg/runtime',
  'k8s.io/apimachinery/pkg/util/intstr',
  'k8s.io/apimachinery/pkg/version',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1',
  'k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1',
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1',
  'k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1',
]

const { directories, version } = download(options.release)
const packages = readPackages(directories)
const published = publishedModels(directories.get('kubernetes'))
const types = typesOf(packages, (name) => published.has(name))
const kinds = new Map(
  types.types.filter(({ gvk }) => gvk).map(({ gvk, name }) => [`${gvk.group}/${gvk.version}/${gvk.kind}`, name]),
)
const table = JSON.parse(readFileSync(join(root, 'src/registry/resources-table.json'), 'utf8'))
const resources = resourcesOf(directories.get('kubernetes'), kinds, table)
const out = options.out ?? join(root, '.facts', `v${release(version)}`)
mkdirSync(out, { recursive: true })
write('types.json', { kubernetesVersion: version, ...types })
write('resources.json', resources)
write('feature-gates.json', featureGatesOf(directories, release(version)))
console.log(`facts: ${types.types.length} types, ${resources.resources.length} resources of ${version} in ${out}`)
for (const { group, version, resource, isNew } of resources.resources)
  if (isNew) console.log(`facts: new: ${group}/${version} ${resource}: its field selectors are to be looked up`)

if (options.server !== undefined) {
  const files = await observed(getOf(options.server), getOf(options.everything))
  for (const [name, value] of Object.entries(files)) write(name, value)
  console.log(`facts: ${Object.keys(files).join(', ')} as ${options.server} and ${options.everything} tell`)
}

function getOf(server) {
  return async (path, accept = 'application/json') => {
    const response = await fetch(new URL(path, server), { headers: { accept } })
    if (!response.ok) throw new Error(`facts: ${server}${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
}

function write(name, value) {
  writeFileSync(join(out, name), JSON.stringify(value, null, 1))
}

function release(version) {
  return /^v(\d+\.\d+)/.exec(version)[1]
}

/** Directories by module name. Staging modules have the minor and patch version of k8s.io/kubernetes behind v0. */
function download(wanted) {
  const directories = new Map()
  let version = ''
  for (const name of MODULES) {
    const query = `k8s.io/${name}@v${name === 'kubernetes' ? wanted : wanted.replace(/^1/, '0')}`
    const downloaded = JSON.parse(
      execFileSync('go', ['mod', 'download', '-json', query], { cwd: tmpdir(), encoding: 'utf8' }),
    )
    if (name === 'kubernetes') version = downloaded.Version
    directories.set(name, downloaded.Dir)
  }
  return { directories, version }
}

function readPackages(directories) {
  const api = directories.get('api')
  const isPackage = (path) => existsSync(join(api, path, 'types.go')) && existsSync(join(api, path, 'register.go'))
  const ofApi = readdirSync(api).flatMap((group) => versionsIn(join(api, group)).map((one) => `${group}/${one}`))
  const paths = [...ofApi.filter(isPackage).map((path) => `k8s.io/api/${path}`), ...PACKAGES]
  const packages = new Map()
  for (const path of paths) {
    const [, module, within] = /^k8s\.io\/([\w-]+)\/(.*)$/.exec(path)
    const directory = join(directories.get(module), within)
    const goPackage = readGoPackage(directory, path)
    goPackage.group = groupIn(join(directory, 'register.go'))
    packages.set(path, goPackage)
  }
  resolveConstants(packages)
  return packages
}

function versionsIn(directory) {
  try {
    return readdirSync(directory).filter((name) => /^v\d/.test(name))
  } catch {
    return []
  }
}

function groupIn(file) {
  return existsSync(file) ? /GroupName\s*=\s*"([^"]*)"/.exec(readFileSync(file, 'utf8'))?.[1] : undefined
}

/** The models in the published OpenAPI documents of the release. */
function publishedModels(kubernetes) {
  const directory = join(kubernetes, 'api', 'openapi-spec', 'v3')
  const documents = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')))
  return new Set(documents.flatMap(({ components }) => Object.keys(components?.schemas ?? {})))
}
