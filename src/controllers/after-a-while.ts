import type { Controller } from './controller.ts'
import type { Topic } from '../registry/topic.ts'

/** Hands its key on so many milliseconds later, so that the controller looks once at several changes. */
export const afterAWhile = (controller: Topic, delay: number): Controller => ({
  reconcile(key, context) {
    context.later(controller, key, delay)
    return Promise.resolve(undefined)
  },
})
