// What was recorded, as things that can be run: scenarios, kubectl sessions, and the mutations of a kind.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findKubectlOrNot } from '../clients/kubectl/kubectl.ts'
import { readRecording } from './client.mjs'
import { diff, lenient, open } from './compare.mjs'
import { runSession } from './kubectl-session.mjs'
import { delta, lenient as lenientCase, runKind, same } from './mutations.mjs'
import { runScenario } from './scenario.mjs'

/** The kubectl whose texts were recorded. */
const RECORDED_KUBECTL = '1.36'

const recordings = (directory) => readdirSync(directory).filter((f) => f.endsWith('.jsonl.gz'))

/**
 * What has an outcome: {id, area, file, answer(client, kubeconfig), judge(answer) → {exact, lenient, differences, about},
 * isSame(answer, answer)}. Those of `alone` run one after the other, at the end.
 * @param of {directory, wanted(area), matches(id), order, keep}
 */
export const scenariosOf = ({ directory, wanted, matches, order, keep }) =>
  recordings(directory)
    .filter((f) => f !== 'kubectl.jsonl.gz')
    .map((f) => join(directory, f))
    .flatMap((file) => readRecording(file).map((s) => ({ s, file })))
    .filter(({ s }) => wanted(s.area) && matches(s.id))
    .map(({ s, file }) => ({
      id: s.id,
      area: s.area,
      file,
      alone: s.alone,
      answer: (client) => runScenario(client, s, { keep }),
      isSame: (a, b) => diff(open(a, s), open(b, s)).length === 0,
      judge(answer) {
        const [want, got] = [open(s.expect, s), open(answer, s)]
        const differences = diff(want, got, '', [], order)
        return {
          exact: differences.length === 0,
          lenient: differences.length === 0 || diff(lenient(want), lenient(got)).length === 0,
          differences,
        }
      },
    }))

/** The same of kubectl sessions. @param skip is told why there are none, where they cannot run */
export function sessionsOf({ directory, wanted, matches }, skip) {
  if (!wanted('kubectl')) return []
  const file = join(directory, 'kubectl.jsonl.gz')
  const all = readRecording(file).filter((s) => matches(s.id))
  if (all.length === 0) return []
  const { kubectl, missing } = findKubectlOrNot()
  if (kubectl === undefined) return skip(missing) ?? []
  if (!kubectl.version.startsWith(RECORDED_KUBECTL + '.'))
    return skip(`they need kubectl ${RECORDED_KUBECTL}, not ${kubectl.version}`) ?? []
  /** By the path of the kubeconfig. */
  const configs = new Map()
  const configOf = (kubeconfig) => {
    const view = ['config', 'view', '--raw', '--flatten', '-o', 'json', '--kubeconfig', kubeconfig]
    if (!configs.has(kubeconfig))
      configs.set(kubeconfig, JSON.parse(execFileSync(kubectl.path, view, { encoding: 'utf8' })))
    return configs.get(kubeconfig)
  }
  return all.map((s) => ({
    id: s.id,
    area: 'kubectl',
    file,
    alone: s.alone,
    isSame: (a, b) => diff(a, b).length === 0,
    answer(client, kubeconfig) {
      return runSession(client, kubectl.path, configOf(kubeconfig), s)
    },
    judge(got) {
      const differences = diff(s.expect, got)
      return {
        exact: differences.length === 0,
        lenient: !diff(codes(s.expect), codes(got)).length,
        differences,
        about: s.steps.map((x, i) => (x.run ? `${i}: kubectl ${x.run.join(' ')}\n` : '')).join(''),
      }
    },
  }))
}
/** Of a session the exit codes alone. */
const codes = (results) => results.map((r) => r.code ?? (r.error ? 'error' : null))

/** One for each kind, whose outcome is a list; `size` says how long. @param kind of whose names those of the files match */
export function kindsOf({ directory: recorded, wanted, matches }, kind) {
  const directory = join(recorded, 'mutations')
  if (!wanted('mutations')) return []
  return recordings(directory)
    .filter((f) => !kind || new RegExp(kind).test(basename(f, '.jsonl.gz')))
    .map((f) => ({
      name: basename(f, '.jsonl.gz'),
      file: join(directory, f),
      size() {
        const [head, ...all] = readRecording(join(directory, f))
        const bases = Object.keys(head.expect).filter((b) => matches('base/' + b))
        return bases.length + all.filter((c) => matches(c.id)).length
      },
      /** @param id only these, where there are any */
      async run(client, id) {
        const [head, ...all] = readRecording(join(directory, f))
        const cases = all.filter((c) => matches(c.id) && (!id || id.has(c.id)))
        const got = new Map()
        let error
        try {
          await runKind(client, head, cases, { jobs: 4, done: (caseId, answer) => got.set(caseId, answer) })
        } catch (e) {
          error = String(e)
        }
        const judge = (caseId, want, c) => {
          const have = got.get(caseId) ?? { error: error ?? 'no answer' }
          const exact = same(want, have)
          const plain = (v) => JSON.parse(JSON.stringify(lenientCase(v)))
          const text =
            exact ||
            `## ${this.name} ${caseId}${c ? `\n   ${c.verb} ${c.base} ${JSON.stringify(c.patch)}` : ''}\n` +
              `  want ${JSON.stringify(want)}\n  got  ${JSON.stringify(have)}` +
              (c
                ? ''
                : '\n  ' +
                  delta(want.body, have.body ?? {})
                    .map((d) => JSON.stringify(d))
                    .join('\n  '))
          return { id: caseId, area: 'mutations', exact, lenient: exact || same(plain(want), plain(have)), text, have }
        }
        return [
          ...Object.entries(head.expect)
            .filter(([b]) => matches('base/' + b) && (!id || id.has('base/' + b)))
            .map(([b, want]) => judge('base/' + b, want)),
          ...cases.map((c) => judge(c.id, c.expect, c)),
        ]
      },
    }))
}
