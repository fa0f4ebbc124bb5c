"""Shares of false claims by threshold, noise and worthless share, without a society."""

from virsci_society.metrics.idea_quality import independent_projects as alone

policies = {}, {"replication": 0.3}, {"ideas": 5, "signal": 0.3}
print("worthless success | noise 0.1       | noise 0.3       | noise 0.6")
for worthless in (0.2, 0.5, 0.8):
    for success in (0.3, 0.5, 0.7):
        line = f"{worthless:9} {success:7}"
        for noise in (0.1, 0.3, 0.6):
            found = [alone(worthless, noise, success, **one)["false_on_record"] for one in policies]
            line += " | " + "  ".join(f"{share:.2f}"[1:].rjust(4) for share in found)
        print(line)
