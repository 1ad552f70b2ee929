"""The ApexBridge dialect."""
