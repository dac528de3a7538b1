import type { Controller } from './controller.ts'
import { departedController, ownedController, waitingController } from './garbage-collector.ts'
import { namespaceController } from './namespace.ts'
import { rootCaPublisher } from './root-ca-publisher.ts'
import { serviceAccountController } from './service-account.ts'

/** By the name that outbox messages give (see outbox.ts). */
export const controllers: Readonly<Record<string, Controller>> = {
  departed: departedController,
  namespace: namespaceController,
  owned: ownedController,
  waiting: waitingController,
  'service-account': serviceAccountController,
  'root-ca-publisher': rootCaPublisher,
}
