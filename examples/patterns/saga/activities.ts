// Reservations and the payment of a trip. Canceling is idempotent and works without a reservation.
import { ApplicationFailure } from "temporalex/activity";

export async function reserveHotel(trip: string): Promise<string> {
  return `hotel for ${trip}`;
}

export async function cancelHotel(_trip: string): Promise<void> {}

export async function reserveFlight(trip: string): Promise<string> {
  return `flight for ${trip}`;
}

export async function cancelFlight(_trip: string): Promise<void> {}

export async function charge(trip: string, cents: number): Promise<string> {
  if (cents > 100_000) {
    throw new ApplicationFailure("the card was declined", {
      type: "CardDeclined",
      nonRetryable: true,
    });
  }
  return `receipt for ${trip}`;
}
