/**
 * The volumes that the unbound claims of a pod may get on a node. One cycle compares claims and volumes once. For each
 * node it compares only the node affinities, of which volumes on the same node share one.
 */
import type { Node, PersistentVolume, PersistentVolumeClaim } from '../../api/core/v1.ts'
import type { Steps } from '../../base/slices.ts'
import { classOf, isFree, isOfKind, isReservedFor, modesOf, selectorOf, storageOf } from '../volumes/matching.ts'
import type { Quantity } from '../../schema/quantity.ts'
import type { CycleWork } from './cycle-work.ts'
import { weightOf } from './cycle-work.ts'
import { matchesSelector } from './node-selector.ts'

/** Comparisons that it takes to parse a volume. */
const PARSED = 50
/** Comparisons to see whether a claim may get a volume. */
const COMPARED = 4

/** Volumes with the same node affinity. */
interface Group {
  readonly affinity: Required<PersistentVolume>['spec']['nodeAffinity']
}

/** A volume, with what each claim compares. */
interface Seen {
  readonly volume: PersistentVolume
  /** The position among all volumes, the best one first. */
  rank: number
  readonly bytes: number
  readonly size: Quantity
  readonly modes: number
  readonly group: Group
}

interface Wish {
  /** Volumes that are reserved for the claim. */
  readonly reserved: readonly Seen[]
  /** Free volumes by group, the best one first. */
  readonly free: ReadonlyMap<Group, readonly Seen[]>
}

export class FreeVolumes {
  private constructor(
    /** The claims, the smallest first. */
    readonly claims: readonly PersistentVolumeClaim[],
    private readonly wishes: ReadonlyMap<PersistentVolumeClaim, Wish>,
    private readonly groups: readonly Group[],
    /** Comparisons for one node. */
    readonly weight: number,
  ) {}

  static *of(
    unbound: readonly PersistentVolumeClaim[],
    volumes: readonly PersistentVolume[],
    work: CycleWork,
  ): Steps<FreeVolumes> {
    if (unbound.length === 0) return new FreeVolumes([], new Map(), [], 0)
    const groups = new Map<string, Group>()
    const inOrder = yield* work.map(volumes, (volume) => seen(volume, groups), PARSED)
    const listed: Seen[] = inOrder.map((one) => ({ ...one, rank: 0 }))
    const reservedOnes = listed.filter(({ volume }) => volume.spec?.claimRef !== undefined)
    const known = yield* work.sorted(listed, (a, b) => a.modes - b.modes || a.bytes - b.bytes || a.size.compare(b.size))
    for (const [rank, one] of known.entries()) one.rank = rank
    // a pod may name one claim twice
    const claims = [...new Set(unbound)]
      .map((claim) => ({ claim, size: storageOf(claim.spec?.resources?.requests) }))
      .sort((a, b) => a.size.compare(b.size))
    /** Free volumes by the text of the wish: many claims of a pod want the same. */
    const freeFor = new Map<string, ReadonlyMap<Group, readonly Seen[]>>()
    const wishes = new Map<PersistentVolumeClaim, Wish>()
    let weight = 0
    for (const { claim, size } of claims) {
      const isLarge = (one: Seen) => one.size.compare(size) >= 0
      const isReserved = (one: Seen) => isReservedFor(one.volume, claim) && isOfKind(one.volume, claim) && isLarge(one)
      const reserved = yield* work.filter(reservedOnes, isReserved)
      const { volumeName: _, ...wish } = claim.spec ?? {}
      const text = JSON.stringify([wish, classOf(claim)])
      const selects = selectorOf(claim)
      const isPossible = (one: Seen) =>
        isFree(one.volume, claim) && isOfKind(one.volume, claim) && selects(one.volume) && isLarge(one)
      const free =
        freeFor.get(text) ?? Map.groupBy(yield* work.filter(known, isPossible, COMPARED), ({ group }) => group)
      freeFor.set(text, free)
      weight += 1 + free.size + reserved.length
      wishes.set(claim, { reserved, free })
    }
    for (const text of groups.keys()) weight += weightOf(text.length)
    return new FreeVolumes(
      claims.map(({ claim }) => claim),
      wishes,
      [...groups.values()],
      weight,
    )
  }

  /** The volumes that the claims of one pod may get on the node. */
  on(node: Node): { take(claim: PersistentVolumeClaim): PersistentVolume | undefined } {
    const reached = new Set(
      this.groups.filter(
        ({ affinity }) => affinity?.required === undefined || matchesSelector(affinity.required, node),
      ),
    )
    const taken = new Set<PersistentVolume>()
    const isLeft = ({ volume }: Seen) => !taken.has(volume)
    return {
      take: (claim) => {
        const { reserved = [], free } = this.wishes.get(claim) ?? {}
        let best: Seen | undefined
        for (const [group, volumes] of free ?? []) {
          if (!reached.has(group)) continue
          const first = volumes.find(isLeft)
          if (first !== undefined && (best === undefined || first.rank < best.rank)) best = first
        }
        const volume = reserved.find(isLeft)?.volume ?? best?.volume
        if (volume !== undefined) taken.add(volume)
        return volume
      },
    }
  }
}

function seen(volume: PersistentVolume, groups: Map<string, Group>): Omit<Seen, 'rank'> {
  const { nodeAffinity, capacity } = volume.spec ?? {}
  const text = JSON.stringify(nodeAffinity?.required ?? null)
  const group = groups.get(text) ?? { affinity: nodeAffinity }
  groups.set(text, group)
  const size = storageOf(capacity)
  return { volume, size, bytes: size.value(), modes: modesOf(volume), group }
}
