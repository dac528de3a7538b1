// `E2E_TEST=FILE npm run upstream` runs tests of Kubernetes' conformance suite with its program e2e.test against a
// Kedge with simulated nodes. tests.txt lists those that need no real container; needs-containers.txt lists those that
// do, with the reason. A test of the suite in neither list is a failure, too. `--only REGEX`: tests whose names match.
// `--minutes N`: gives up the rest after N minutes. `--tests FILE`: another list,
// further.txt for one: tests outside of the suite.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKedge } from '../cli/kedge-process.ts'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '180' },
    tests: { type: 'string', default: join(import.meta.dirname, 'tests.txt') },
  },
})
/** Images that tests expect to be missing from their registry. */
const MISSING_IMAGES = 'webserver:404,foo:non-existent'
const NODES = 3

interface Spec {
  readonly LeafNodeType: string
  readonly State: string
  /** In nanoseconds. */
  readonly RunTime: number
  readonly ContainerHierarchyTexts: readonly string[] | null
  readonly LeafNodeText: string
  readonly Failure?: { readonly Message: string }
}

const nameOf = ({ ContainerHierarchyTexts, LeafNodeText }: Spec): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ')

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

const wanted = readFileSync(flags.tests, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('# ') && new RegExp(flags.only).test(line))
const program = process.env['E2E_TEST']
if (program === undefined || !existsSync(program)) {
  console.log(
    'skipped: E2E_TEST names no e2e.test (k8s.io/kubernetes/test/e2e, of the release that Kedge is measured against)',
  )
  process.exit(0)
}

const known = new Set(
  ['tests.txt', 'needs-containers.txt'].flatMap((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8').split('\n'),
  ),
)
const { stdout: listed } = spawnSync(program, ['--list-tests'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
const unlisted = listed
  .split('\n')
  .map((line) => line.trim().replace(/^\S+\.go:\d+: /, ''))
  .filter((name) => name.startsWith('[sig-') && name.includes('[Conformance]') && !known.has(name))
for (const name of unlisted) console.log(`in no list  ${name}`)

const directory = mkdtempSync(join(tmpdir(), 'kedge-upstream-'))
const report = join(directory, 'report.json')
const simulated = ['--workloads', 'simulated', '--nodes', String(NODES), '--missing-images', MISSING_IMAGES]
const kedge = await startKedge(['--ephemeral', '--port', '0', ...simulated])
let specs: readonly Spec[] = []
try {
  const args = [
    `--kubeconfig=${kedge.kubeconfig}`,
    '--provider=skeleton',
    `--num-nodes=${NODES}`,
    '--disable-log-dump',
    `--kubectl-path=${findKubectlOrNot().kubectl?.path ?? 'kubectl'}`,
    `--ginkgo.focus=${wanted.map(escaped).join('|')}`,
    `--ginkgo.timeout=${flags.minutes}m`,
    `--ginkgo.json-report=${report}`,
    '--ginkgo.no-color',
  ]
  spawnSync(program, args, { cwd: directory, stdio: 'ignore' })
  const suites = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as { SpecReports: Spec[] }[]) : []
  specs = suites.flatMap(({ SpecReports }) => SpecReports)
} finally {
  await kedge.stop()
  rmSync(directory, { recursive: true, force: true })
}

const ran = new Map(
  specs
    .filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && State !== 'skipped')
    .map((spec) => [nameOf(spec), spec]),
)
let passed = 0
for (const name of wanted) {
  const spec = ran.get(name)
  if (spec?.State === 'passed') passed++
  const seconds = ((spec?.RunTime ?? 0) / 1e9).toFixed(0).padStart(4)
  console.log(`${(spec?.State ?? 'not run').padEnd(11)} ${seconds} s  ${name}`)
  if (spec?.Failure !== undefined && spec.State !== 'passed') console.log(`    ${spec.Failure.Message.slice(0, 1_000)}`)
}
console.log(`${passed} of ${wanted.length} passed`)
process.exit(passed === wanted.length && unlisted.length === 0 ? 0 : 1)
