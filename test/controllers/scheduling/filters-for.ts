import { atOnce } from '../../../src/base/slices.ts'
import { CycleWork } from '../../../src/controllers/scheduling/cycle-work.ts'
import { defaultScheduler } from '../../../src/configuration/scheduler/configuration.ts'
import type { Pod } from '../../../src/api/core/v1.ts'
import { DeviceFacts } from '../../../src/controllers/scheduling/devices/device-facts.ts'
import { RunningTerms } from '../../../src/controllers/scheduling/running-terms.ts'
import type { NodeState } from '../../../src/controllers/scheduling/node-state.ts'
import { PodInfo } from '../../../src/controllers/scheduling/pod-info.ts'
import { profileOf } from '../../../src/controllers/scheduling/profile.ts'
import { Filters } from '../../../src/controllers/scheduling/schedule.ts'
import { VolumeFacts } from '../../../src/controllers/scheduling/volume-facts.ts'

/** The default profile's filters for a pod, in a cluster that has these nodes, and no Services and devices. */
export const filtersFor = (pod: Pod, nodes: readonly NodeState[], volumes = new VolumeFacts()): Filters =>
  atOnce(
    Filters.begin(profileOf(defaultScheduler.profiles[0]!), {
      nodes,
      node: (name) => nodes.find((node) => node.name === name),
      terms: RunningTerms.of(nodes),
      namespaces: () => ({}),
      defaultSelector: () => undefined,
      unmade: () => undefined,
      volumes,
      devices: new DeviceFacts(),
      pod,
      info: new PodInfo(pod),
      claims: undefined,
      work: new CycleWork(),
    }),
  )
