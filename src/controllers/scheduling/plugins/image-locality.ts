/** ImageLocality: prefers nodes that have the images of a pod. */
import type { ScorePlugin } from '../framework.ts'
import { MOST } from '../framework.ts'
import type { NodeState } from '../node-state.ts'

const MIB = 1024 * 1024
/** With fewer bytes of images on a node its score is 0. */
const LEAST = 23 * MIB
/** Bytes for each container. More bytes do not raise the score. */
const MOST_EACH = 1000 * MIB
/** Comparisons to find an image on a node. */
const IMAGES = 8

export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  *score({ pod, nodes: all, work }, nodes) {
    const { initContainers = [], containers = [], volumes = [] } = pod.spec ?? {}
    const images = [
      ...[...initContainers, ...containers].map(({ image = '' }) => image),
      ...volumes.flatMap(({ image }) => image?.reference ?? []),
    ].map(withTag)
    if (!nodes.some(({ node }) => (node.status?.images ?? []).length > 0)) return undefined
    const spread = new Map(images.map((image) => [image, 0]))
    for (const image of spread.keys())
      spread.set(image, (yield* work.filter(all, (node) => sizeOn(node, image) > 0, IMAGES)).length)
    const most = MOST_EACH * (initContainers.length + containers.length)
    const score = (node: NodeState) => {
      let bytes = 0
      for (const image of images) bytes += Math.trunc(sizeOn(node, image) * ((spread.get(image) ?? 0) / all.length))
      return Math.trunc((MOST * (Math.min(Math.max(bytes, LEAST), most) - LEAST)) / (most - LEAST))
    }
    return yield* work.map(nodes, score, images.length * IMAGES)
  },
}

const sizeOn = ({ node }: NodeState, image: string): number =>
  Number(node.status?.images?.find(({ names = [] }) => names.includes(image))?.sizeBytes ?? 0) // few: a kubelet reports 50 images

const withTag = (image: string): string =>
  image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image
