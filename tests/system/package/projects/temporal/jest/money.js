exports.Money = class Money {
  constructor(cents) {
    this.cents = cents;
  }
};
