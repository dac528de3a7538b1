import { describe, expect, test } from 'vitest'
import type { ControllerName } from '../../src/configuration/controllers.ts'
import { parseControllers, switchable } from '../../src/configuration/controllers.ts'
import { workloadTopics } from '../../src/registry/work/workload-controllers.ts'

describe('--controllers', () => {
  test.each<[string, readonly ControllerName[], readonly ControllerName[]]>([
    ['*', ['deployment-controller', 'kube-scheduler'], []],
    ['*,-job-controller', ['deployment-controller'], ['job-controller']],
    ['-job-controller,*', ['deployment-controller'], ['job-controller']],
    // the first mention of a controller decides
    ['job-controller,-job-controller', ['job-controller'], ['cronjob-controller']],
    ['-job-controller,job-controller,*', [], ['job-controller']],
    ['deployment-controller', ['deployment-controller'], ['replicaset-controller', 'kube-scheduler']],
    ['*, -cronjob , -kube-scheduler', ['job-controller'], ['cronjob-controller', 'kube-scheduler']],
    ['deployment,replicaset', ['deployment-controller', 'replicaset-controller'], ['job-controller']],
    ['namespace-controller,podgroup-protection-controller', [], ['job-controller']],
    ['*,-ttl-controller', ['job-controller'], ['ttl-controller']],
    ['*,-job,-ttl-after-finished', ['deployment-controller'], ['job-controller']],
  ])('%s', (text, on, off) => {
    const { isEnabled } = parseControllers(text)
    expect([on.filter((name) => !isEnabled(name)), off.filter(isEnabled)]).toEqual([[], []])
  })

  test.each([
    ['red-controller', '"red-controller" is not in the list of known controllers'],
    ['*,-red', '"red" is not in the list of known controllers'],
    ['*,', '"" is not in the list of known controllers'],
    ['__proto__', '"__proto__" is not in the list of known controllers'],
    ['--job-controller', '"-job-controller" is not in the list of known controllers'],
    ['node-ipam-controller', '"node-ipam-controller" is not built in'],
    ['route', '"route" is not built in'],
    ['*,-ttl-after-finished', '"ttl-after-finished-controller" is on or off with "job-controller"'],
    ['ttl-after-finished', '"ttl-after-finished-controller" is on or off with "job-controller"'],
    ['*,-podgroup-protection-controller', '"podgroup-protection-controller" belongs to the API and always runs'],
    ['*,-namespace', '"namespace" belongs to the API and always runs'],
  ])('%s is refused', (text, why) => {
    expect(() => parseControllers(text)).toThrow(why)
  })

  test.each([
    ['*', true, false],
    ['*,-garbagecollector', false, false],
    ['-garbage-collector-controller', false, false],
    // a list of workload controllers does not leave objects of deleted owners behind
    ['deployment-controller', true, true],
    ['*,-job-controller,-garbage-collector-controller', false, true],
    ['garbagecollector,-garbagecollector', true, false],
  ])('%s collects garbage: %s', (text, collectsGarbage, isOfWorkloads) => {
    expect(parseControllers(text)).toMatchObject({ collectsGarbage, isOfWorkloads })
  })

  test('whatever can be switched off does something', () => {
    const named = new Set<string>(Object.values(workloadTopics))
    expect(switchable.filter((name) => !named.has(name))).toEqual([])
  })
})
