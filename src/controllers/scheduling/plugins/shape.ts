/** A score by the utilization of a resource: points, with straight lines between them. */
import type { ShapePoint } from '../../../configuration/scheduler/resources-fit.ts'

/** The points of a shape have scores from 0 to 10, the result has 0 to 100. */
const SCALE = 10

/**
 * @param shape sorted by utilization, not empty
 * @param utilization whole percent
 */
export function alongShape(shape: readonly ShapePoint[], utilization: number): number {
  let before: ShapePoint | undefined
  for (const point of shape) {
    if (utilization <= point.utilization)
      return before === undefined ? point.score * SCALE : between(before, point, utilization)
    before = point
  }
  return (before?.score ?? 0) * SCALE
}

function between(low: ShapePoint, high: ShapePoint, utilization: number): number {
  const rise = (high.score - low.score) * SCALE
  return low.score * SCALE + Math.trunc((rise * (utilization - low.utilization)) / (high.utilization - low.utilization))
}
